/// A file that lives as long as a test needs it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace espalier::data {

class TemporaryFile {
 public:
  /// In the folder for temporary files, with the test's own name before `name`.
  TemporaryFile(std::string_view name, std::string_view content) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string file = std::string(test->test_suite_name()) + "_" + test->name() + "_" + std::string(name);
    std::replace(file.begin(), file.end(), '/', '_');  // in names of tests with parameters
    path_ = std::filesystem::path(::testing::TempDir()) / file;
    std::ofstream(path_, std::ios::binary) << content;  // not synced to disk: tests make many
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace espalier::data
