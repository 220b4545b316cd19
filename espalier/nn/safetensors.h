/// Named tensors on disk in the safetensors format, which other tools read and write as well.
///
/// The file is 8 bytes with the length of the header (little-endian), the header, a JSON object
///
///   {"__metadata__": {"key": "text"}, "cell.W": {"dtype": "F32", "shape": [64, 128], "data_offsets": [0, 32768]}, ...}
///
/// padded with spaces to a multiple of 8, and the numbers, row-major, each tensor right after the one before.
///
/// Thread safety: functions may be called from any thread; a reader may be used by any number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/dtype.h"
#include "espalier/base/export.h"
#include "espalier/base/file_path.h"
#include "espalier/base/shape.h"
#include "espalier/tensor/tensor.h"

namespace espalier {

/// Free text kept beside the tensors.
using Metadata = std::map<std::string, std::string, std::less<>>;
using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// A tensor of somebody else under the name it gets in a file.
struct NamedTensorRef {
  std::string_view name;
  const Tensor& tensor;
};

/// Writes the file whole or not at all. Refuses (UsageError) a name that is given twice, is "__metadata__" or is not
/// UTF-8, and (ResourceError) a file that cannot be written.
ESPALIER_EXPORT void write_safetensors(const FilePath& path, std::span<const NamedTensorRef> tensors,
                                       const Metadata& metadata = {});
ESPALIER_EXPORT void write_safetensors(const FilePath& path, const NamedTensors& tensors,
                                       const Metadata& metadata = {});

/// The content of one file. The whole file is checked when it is opened: a DataError, one sentence that begins with the
/// path, tells what does not follow the format, and no tensor is ever read from outside its place.
class ESPALIER_EXPORT SafetensorsReader {
 public:
  /// Refuses (ResourceError) a file that cannot be read, and (DataError) one that does not follow the format, has a
  /// tensor of more than four axes or an element type that is not known.
  explicit SafetensorsReader(const FilePath& path);
  ~SafetensorsReader();
  SafetensorsReader(SafetensorsReader&&) noexcept;
  SafetensorsReader& operator=(SafetensorsReader&&) noexcept;
  SafetensorsReader(const SafetensorsReader&) = delete;
  SafetensorsReader& operator=(const SafetensorsReader&) = delete;

  /// In alphabetical order.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;
  const Metadata& metadata() const;

  /// These refuse (DataError) a name that is not in the file.
  const Shape& shape(std::string_view name) const;
  /// What read() gives: float32 for F32, F16 and BF16, float64 for F64, int32 for I32. Refuses (DataError) the others.
  DType dtype(std::string_view name) const;
  Tensor read(std::string_view name) const;
  /// Fills a tensor of the same shape, converting to its element type. Refuses (DataError) another shape, naming both,
  /// and int32 for numbers that are not whole.
  void read_into(std::string_view name, Tensor& to) const;
  NamedTensors read_all() const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace espalier
