/// Weights in the safetensors format: the input as a file, and as a line of header and the data after it.
#include "espalier/nn/safetensors.h"

#include <algorithm>
#include <cstring>

#include "fuzz/input.h"

namespace espalier::fuzz {
namespace {

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

void read_file_of_tensors(std::string_view bytes) {
  const MemoryFile file(bytes);
  accepts([&] {
    const SafetensorsReader reader(file.path());
    for (const std::string& name : reader.names()) {
      Tensor wide(reader.shape(name), DType::kFloat64);
      accepts([&] { reader.read_into(name, wide); });
    }
    const NamedTensors tensors = reader.read_all();
    const std::filesystem::path copy = temporary_folder() / "copy.safetensors";
    write_safetensors(copy, tensors, reader.metadata());
    const SafetensorsReader again(copy);
    check(again.metadata() == reader.metadata(), "metadata that were written read back the same");
    const NamedTensors others = again.read_all();
    check(std::equal(tensors.begin(), tensors.end(), others.begin(), others.end(),
                     [](const auto& a, const auto& b) { return a.first == b.first && same_bytes(a.second, b.second); }),
          "tensors that were written read back the same");
  });
}

}  // namespace

void safetensors(std::string_view input) {
  read_file_of_tensors(input);
  read_file_of_tensors(safetensors_of(input));
}

}  // namespace espalier::fuzz
