/// read(): what is in a file that write() wrote.
///
/// Thread safety: plain functions.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/tensor/tensor.h"

namespace espalier::onnx {

struct FileContents {
  std::map<std::string, std::string> metadata;
  /// The float32 tensors of the graph, by name: the weights, and some constants.
  std::map<std::string, Tensor> weights;
};

/// Refuses (ResourceError) a file that cannot be read, and (DataError) one that is no ONNX file of ours.
ESPALIER_EXPORT FileContents read(const std::filesystem::path& path);
/// Only the metadata.
ESPALIER_EXPORT std::map<std::string, std::string> read_metadata(const std::filesystem::path& path);
/// The contents of bytes; `path` names them in errors, and tells where weights outside of the file are.
ESPALIER_EXPORT FileContents parse(std::string_view bytes, const std::filesystem::path& path, bool with_weights = true);

}  // namespace espalier::onnx
