/// Data that is not part of the project: the folder that the environment's ESPALIER_DATA names.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace espalier::testing {

/// Empty where there is no such folder.
inline std::filesystem::path data_folder() {
  const char* folder = std::getenv("ESPALIER_DATA");  // NOLINT(concurrency-mt-unsafe): tests set no variables
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return {};
  return folder;
}

}  // namespace espalier::testing
