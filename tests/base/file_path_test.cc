#include "espalier/base/file_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace espalier {
namespace {

std::string text_of(const FilePath& path) { return path.text(); }

TEST(FilePath, ComesFromTextAndFromPathsOfTheStandardLibrary) {
  const std::string text = "folder/weights.safetensors";
  EXPECT_EQ(text_of("folder/weights.safetensors"), text);
  EXPECT_EQ(text_of(text), text);
  EXPECT_EQ(text_of(std::string_view(text)), text);
  EXPECT_EQ(text_of(std::filesystem::path(text)), text);
  EXPECT_EQ(text_of(std::filesystem::path("folder") / "weights.safetensors"), text);
}

}  // namespace
}  // namespace espalier
