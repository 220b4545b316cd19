#include "espalier/onnx/read_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/data/number_text.h"
#include "espalier/data/proto_wire.h"
#include "espalier/onnx/format.h"
#include "espalier/onnx/messages.h"

namespace espalier::onnx {
namespace {

/// Reads the messages that write() writes; leaves out all other fields.
class FileReader {
 public:
  FileReader(std::string_view bytes, const std::filesystem::path& path, bool with_weights)
      : path_(path), source_(path.string()), wire_(bytes, source_), with_weights_(with_weights) {
    for_each_field(bytes, [&](std::uint32_t field, std::string_view content) {
      if (field == 7) graph_ = content;
      if (field == 14) add_entry(contents_.metadata, content);
    });
    if (contents_.metadata.count(std::string(kScheduleEntry)) == 0)
      refuse("it was not written by Espalier: its metadata have no \"espalier.schedule\"");
    if (with_weights_) read_weights();
  }
  FileContents take() { return std::move(contents_); }

 private:
  [[noreturn]] void refuse(const std::string& sentence) const { throw DataError(source_ + ": " + sentence); }

  /// Calls f(number, content) for each field of bytes, and skips numbers.
  template <class F>
  void for_each_field(std::string_view message, const F& f) const {
    for_each_field(message, f, [](std::uint32_t, std::uint64_t) {});
  }
  template <class F, class G>
  void for_each_field(std::string_view message, const F& f, const G& number) const {
    while (!message.empty()) {
      const data::ProtoTag tag = wire_.take_tag(message);
      if (tag.type == data::WireType::kLengthDelimited)
        f(tag.number, wire_.take_delimited(message));
      else if (tag.type == data::WireType::kVarint)
        number(tag.number, wire_.take_varint(message));
      else
        wire_.skip(message, tag);
    }
  }

  void add_entry(std::map<std::string, std::string>& to, std::string_view entry) const {
    std::string key;
    std::string value;
    for_each_field(entry, [&](std::uint32_t field, std::string_view content) {
      if (field == 1) key = content;
      if (field == 2) value = content;
    });
    to[key] = value;
  }

  void read_weights() {
    for_each_field(graph_, [&](std::uint32_t field, std::string_view content) {
      if (field == 5) add_tensor(content);
    });
  }

  void add_tensor(std::string_view message) {
    std::vector<std::int64_t> dims;
    std::uint64_t type = 0;
    std::string name;
    std::optional<std::string_view> raw;
    std::map<std::string, std::string> outside;
    for_each_field(
        message,
        [&](std::uint32_t field, std::string_view content) {
          if (field == 8) name = content;
          if (field == 9) raw = content;
          if (field == 13) add_entry(outside, content);
        },
        [&](std::uint32_t field, std::uint64_t value) {
          if (field == 1) dims.push_back(static_cast<std::int64_t>(value));
          if (field == 2) type = value;
        });
    if (type != static_cast<std::uint64_t>(ElementType::kFloat) || dims.size() > at(kMaxRank)) return;
    Shape shape;
    for (const std::int64_t size : dims) {
      if (size < 0 || size > Shape::kMostElements / std::max<std::int64_t>(1, shape.elements()) ||
          size > std::numeric_limits<std::int32_t>::max())
        refuse(fmt::format("tensor \"{}\" has a size of {} along an axis", name, size));
      shape = shape.inserted(shape.rank(), size);
    }
    const auto bytes = at(shape.elements()) * sizeof(float);
    const std::string_view content = outside.empty() ? raw.value_or(std::string_view()) : outside_bytes(name, outside);
    if (content.size() != bytes)
      refuse(fmt::format("tensor \"{}\" has {} bytes, and its shape {} takes {}", name, content.size(),
                         shape.to_string(), bytes));
    Tensor tensor = Tensor::unset(shape);
    std::memcpy(tensor.data(), content.data(), bytes);
    contents_.weights.insert_or_assign(name, std::move(tensor));
  }

  /// A part of the file beside this one.
  std::string_view outside_bytes(const std::string& name, const std::map<std::string, std::string>& entries) {
    const auto number = [&](const std::string& key) {
      const auto entry = entries.find(key);
      const std::optional<std::int64_t> value =
          entry == entries.end() ? std::nullopt : data::number_in<std::int64_t>(entry->second);
      if (!value || *value < 0) refuse(fmt::format("tensor \"{}\" lies outside, and its {} is missing", name, key));
      return static_cast<std::uint64_t>(*value);
    };
    const auto location = entries.find("location");
    if (location == entries.end() || location->second != path_.filename().string() + ".data")
      refuse(fmt::format("tensor \"{}\" lies outside, but not in \"{}.data\"", name, path_.filename().string()));
    if (!outside_) outside_ = read_file(path_.string() + ".data");
    const std::uint64_t offset = number("offset");
    const std::uint64_t length = number("length");
    if (offset > outside_->size() || length > outside_->size() - offset)
      refuse(fmt::format("tensor \"{}\" lies outside the {} bytes of \"{}.data\"", name, outside_->size(),
                         path_.filename().string()));
    return std::string_view(*outside_).substr(offset, length);
  }

  const std::filesystem::path& path_;
  std::string source_;
  data::ProtoWire wire_;
  bool with_weights_;
  std::string_view graph_;
  std::optional<std::string> outside_;
  FileContents contents_;
};

}  // namespace

FileContents parse(std::string_view bytes, const std::filesystem::path& path, bool with_weights) {
  return FileReader(bytes, path, with_weights).take();
}

FileContents read(const std::filesystem::path& path) { return parse(read_file(path), path); }

std::map<std::string, std::string> read_metadata(const std::filesystem::path& path) {
  return parse(read_file(path), path, false).metadata;
}

}  // namespace espalier::onnx
