#include "espalier/nn/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/nn/safetensors_header.h"

namespace espalier {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian and read by copying");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // that of the format's other readers
constexpr std::size_t kAlignment = 8;

constexpr std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return "F32";
    case DType::kFloat64: return "F64";
    case DType::kInt32: return "I32";
  }
  return "";
}

std::string header_text(std::span<const NamedTensorRef* const> tensors, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const NamedTensorRef* item : tensors) {
    const Shape& shape = item->tensor.shape();
    auto sizes = nlohmann::ordered_json::array();
    for (std::int32_t axis = 0; axis < shape.rank(); ++axis) sizes.push_back(shape[axis]);
    const std::uint64_t end = offset + item->tensor.bytes();
    header[std::string(item->name)] = {
        {"dtype", type_name(item->tensor.dtype())}, {"shape", std::move(sizes)}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  try {
    std::string text = header.dump();
    text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
    return text;
  } catch (const nlohmann::json::type_error&) {
    throw UsageError("safetensors: names and metadata must be UTF-8 text");
  }
}

float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {  // zero or denormal: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide_exponent = exponent == 0x1F ? 0xFF : exponent + 112;
  return std::bit_cast<float>(sign | (wide_exponent << 23) | (fraction << 13));
}

float float_from_bfloat(std::uint16_t bfloat) { return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat) << 16); }

/// Elements of type From at any address, converted one by one to the elements of a tensor.
template <class From, class Convert>
void convert(const char* from, Tensor& to, const Convert& converted) {
  const auto fill = [&]<class T>(std::span<T> elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      From element;
      std::memcpy(&element, from + i * sizeof(From), sizeof(From));
      elements[i] = static_cast<T>(converted(element));
    }
  };
  switch (to.dtype()) {
    case DType::kFloat32: return fill(to.as<float>());
    case DType::kFloat64: return fill(to.as<double>());
    case DType::kInt32: return fill(to.as<std::int32_t>());
  }
}

}  // namespace

void write_safetensors(const FilePath& path, std::span<const NamedTensorRef> tensors, const Metadata& metadata) {
  // The widest elements first, so that every tensor is aligned to its element.
  std::vector<const NamedTensorRef*> order;
  for (const NamedTensorRef& item : tensors) order.push_back(&item);
  std::sort(order.begin(), order.end(), [](const NamedTensorRef* a, const NamedTensorRef* b) {
    const std::size_t a_size = size_of(a->tensor.dtype());
    const std::size_t b_size = size_of(b->tensor.dtype());
    return a_size != b_size ? a_size > b_size : a->name < b->name;
  });
  std::vector<std::string_view> names;
  for (const NamedTensorRef& item : tensors) names.push_back(item.name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    throw UsageError(fmt::format("safetensors: the name {} is given twice", quoted_name(*twice)));
  if (std::binary_search(names.begin(), names.end(), "__metadata__"))
    throw UsageError("safetensors: the name \"__metadata__\" is not for a tensor");

  const std::string header = header_text(order, metadata);
  if (header.size() > kMaxHeaderBytes)
    throw UsageError(fmt::format("safetensors: the header would have {} bytes, and at most {} are possible",
                                 header.size(), kMaxHeaderBytes));
  const auto length = std::bit_cast<std::array<char, kLengthBytes>>(static_cast<std::uint64_t>(header.size()));
  AtomicFile file(path.text());
  file.write({length.data(), length.size()});
  file.write(header);
  for (const NamedTensorRef* item : order)
    file.write({reinterpret_cast<const char*>(item->tensor.data()), item->tensor.bytes()});
  file.commit();
}

void write_safetensors(const FilePath& path, const NamedTensors& tensors, const Metadata& metadata) {
  std::vector<NamedTensorRef> refs;
  refs.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) refs.push_back({name, tensor});
  write_safetensors(path, refs, metadata);
}

struct SafetensorsReader::File {
  std::string path;
  std::string bytes;
  std::size_t data_begin = 0;
  SafetensorsHeader header;

  const SafetensorsEntry& entry(std::string_view name) const {
    const auto found = header.entries.find(name);
    if (found == header.entries.end())
      throw DataError(
          fmt::format("{}: no tensor {} among the {} of the file", path, quoted_name(name), header.entries.size()));
    return found->second;
  }
};

SafetensorsReader::SafetensorsReader(const FilePath& path) : file_(std::make_unique<File>()) {
  File& file = *file_;
  file.path = path.text();
  file.bytes = read_file(path.text());
  if (file.bytes.size() < kLengthBytes)
    throw DataError(fmt::format("{}: {} bytes are too few for a safetensors file, which begins with a length of {}",
                                file.path, file.bytes.size(), kLengthBytes));
  std::uint64_t length = 0;
  std::memcpy(&length, file.bytes.data(), kLengthBytes);
  const std::uint64_t rest = file.bytes.size() - kLengthBytes;
  if (length > rest && !std::string_view(file.bytes).substr(kLengthBytes).starts_with('{'))
    throw DataError(
        fmt::format("{}: this is not a safetensors file: it begins with {}, and {} bytes of a length and \"{{\" were "
                    "expected",
                    file.path, quoted_name(file.bytes.substr(0, 2 * kLengthBytes)), kLengthBytes));
  if (length > kMaxHeaderBytes)
    throw DataError(fmt::format("{}: a header of {} bytes is announced, and at most {} are possible", file.path, length,
                                kMaxHeaderBytes));
  if (length > rest)
    throw DataError(
        fmt::format("{}: a header of {} bytes is announced, and only {} bytes follow", file.path, length, rest));
  file.data_begin = kLengthBytes + static_cast<std::size_t>(length);
  file.header = parse_safetensors_header(
      file.path, std::string_view(file.bytes).substr(kLengthBytes, static_cast<std::size_t>(length)), rest - length);
}

SafetensorsReader::~SafetensorsReader() = default;
SafetensorsReader::SafetensorsReader(SafetensorsReader&&) noexcept = default;
SafetensorsReader& SafetensorsReader::operator=(SafetensorsReader&&) noexcept = default;

std::vector<std::string> SafetensorsReader::names() const {
  std::vector<std::string> result;
  for (const auto& [name, entry] : file_->header.entries) result.push_back(name);
  return result;
}

bool SafetensorsReader::contains(std::string_view name) const { return file_->header.entries.contains(name); }

const Metadata& SafetensorsReader::metadata() const { return file_->header.metadata; }

const Shape& SafetensorsReader::shape(std::string_view name) const { return file_->entry(name).shape; }

DType SafetensorsReader::dtype(std::string_view name) const {
  const std::string& type = file_->entry(name).dtype;
  if (type == "F32" || type == "F16" || type == "BF16") return DType::kFloat32;
  if (type == "F64") return DType::kFloat64;
  if (type == "I32") return DType::kInt32;
  throw DataError(fmt::format("{}: tensor {} has element type {}, and only F32, F64, F16, BF16 and I32 can be read",
                              file_->path, quoted_name(name), type));
}

Tensor SafetensorsReader::read(std::string_view name) const {
  Tensor result(shape(name), dtype(name));
  read_into(name, result);
  return result;
}

void SafetensorsReader::read_into(std::string_view name, Tensor& to) const {
  const DType stored = dtype(name);
  const SafetensorsEntry& entry = file_->entry(name);
  if (entry.shape != to.shape())
    throw DataError(fmt::format("{}: tensor {} has shape {} where {} is needed", file_->path, quoted_name(name),
                                entry.shape.to_string(), to.shape().to_string()));
  if (to.dtype() == DType::kInt32 && stored != DType::kInt32)
    throw DataError(fmt::format("{}: tensor {} has element type {} where I32 is needed", file_->path, quoted_name(name),
                                entry.dtype));
  const char* from = file_->bytes.data() + file_->data_begin + entry.begin;
  const auto same = [](auto element) { return element; };
  if (type_name(to.dtype()) == entry.dtype)
    std::memcpy(to.data(), from, to.bytes());
  else if (entry.dtype == "F16")
    convert<std::uint16_t>(from, to, float_from_half);
  else if (entry.dtype == "BF16")
    convert<std::uint16_t>(from, to, float_from_bfloat);
  else if (stored == DType::kFloat32)
    convert<float>(from, to, same);
  else if (stored == DType::kFloat64)
    convert<double>(from, to, same);
  else
    convert<std::int32_t>(from, to, same);
}

NamedTensors SafetensorsReader::read_all() const {
  NamedTensors result;
  for (const auto& [name, entry] : file_->header.entries) result.emplace(name, read(name));
  return result;
}

}  // namespace espalier
