#include "espalier/nn/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "espalier/base/error.h"

namespace espalier {
namespace {

using nlohmann::json;

// The element types of the format that are whole bytes long.
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 17> kTypeBytes{{{"BOOL", 1},
                                                                                 {"U8", 1},
                                                                                 {"I8", 1},
                                                                                 {"F8_E5M2", 1},
                                                                                 {"F8_E4M3", 1},
                                                                                 {"F8_E8M0", 1},
                                                                                 {"I16", 2},
                                                                                 {"U16", 2},
                                                                                 {"F16", 2},
                                                                                 {"BF16", 2},
                                                                                 {"I32", 4},
                                                                                 {"U32", 4},
                                                                                 {"F32", 4},
                                                                                 {"C64", 8},
                                                                                 {"F64", 8},
                                                                                 {"I64", 8},
                                                                                 {"U64", 8}}};
constexpr std::uint64_t kMaxAxisSize = 2147483647;

/// Takes the parser's events, so that no tree is built, nothing recurses, and a key given twice is seen. Where it is:
/// outside (0), in the header's object (1), in an entry's or the metadata's (2), in a list of numbers (3).
class HeaderHandler : public nlohmann::json_sax<json> {
 public:
  explicit HeaderHandler(const std::string& path) : path_(path) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { return refuse_value("null"); }
  bool boolean(bool) override { return refuse_value("a truth value"); }
  bool number_integer(std::int64_t number) override { return refuse_value(fmt::format("the number {}", number)); }
  bool number_float(double, const std::string& text) override {
    return refuse_value(fmt::format("the number {}", text.substr(0, kShownText)));
  }
  bool binary(json::binary_t&) override { return refuse_value("bytes"); }

  bool number_unsigned(std::uint64_t number) override {
    if (depth_ != 3) return refuse_value(fmt::format("the number {}", number));
    if (key_ == "shape") {
      if (number > kMaxAxisSize)
        refuse(fmt::format("tensor {} has an axis of size {}, and at most {} is possible", quoted_name(name_), number,
                           kMaxAxisSize));
      if (numbers_.size() == static_cast<std::size_t>(kMaxRank))
        refuse(fmt::format("tensor {} has more than {} axes", quoted_name(name_), kMaxRank));
    } else if (numbers_.size() == 2) {
      refuse(fmt::format("tensor {} has more than two data offsets", quoted_name(name_)));
    }
    numbers_.push_back(number);
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ == 2 && in_metadata_) {
      if (!header_.metadata.emplace(key_, text).second)
        refuse(fmt::format("the metadata have the key {} twice", quoted_name(key_)));
    } else if (depth_ == 2 && key_ == "dtype") {
      entry_.dtype = text;
    } else {
      return refuse_value("a text");
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (depth_ >= 2) return refuse_value("an object");
    if (++depth_ == 2) {
      entry_ = {};
      seen_.clear();
    }
    return true;
  }

  bool key(std::string& text) override {
    if (depth_ == 1) {
      name_ = text;
      in_metadata_ = text == "__metadata__";
      if (in_metadata_ ? std::exchange(has_metadata_, true) : header_.entries.contains(name_))
        refuse(fmt::format("the header has the key {} twice", quoted_name(name_)));
      return true;
    }
    key_ = text;
    if (in_metadata_) return true;
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets")
      refuse(fmt::format("tensor {} has the unknown key {}", quoted_name(name_), quoted_name(key_)));
    if (!seen_.insert(key_).second)
      refuse(fmt::format("tensor {} has the key {} twice", quoted_name(name_), quoted_name(key_)));
    return true;
  }

  bool end_object() override {
    if (--depth_ == 1 && !in_metadata_) {
      for (const std::string_view key : {"dtype", "shape", "data_offsets"})
        if (!seen_.contains(key)) refuse(fmt::format("tensor {} has no \"{}\"", quoted_name(name_), key));
      header_.entries.emplace(name_, entry_);
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || key_ == "dtype") return refuse_value("a list");
    depth_ = 3;
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    depth_ = 2;
    if (key_ == "shape") {
      entry_.shape = Shape{};
      try {
        for (const std::uint64_t size : numbers_)
          entry_.shape = entry_.shape.inserted(entry_.shape.rank(), static_cast<std::int64_t>(size));
      } catch (const ResourceError&) {
        refuse(fmt::format("tensor {} of shape [{}] has more elements than a file can hold", quoted_name(name_),
                           fmt::join(numbers_, ", ")));
      }
    } else {
      if (numbers_.size() != 2)
        refuse(fmt::format("tensor {} has {} data offsets where two are needed", quoted_name(name_), numbers_.size()));
      entry_.begin = numbers_[0];
      entry_.end = numbers_[1];
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    refuse(fmt::format("the header is not JSON from its byte {} on", position));
  }

 private:
  static constexpr std::size_t kShownText = 40;

  [[noreturn]] void refuse(const std::string& what) const { throw DataError(fmt::format("{}: {}", path_, what)); }

  bool refuse_value(std::string_view found) const {
    if (depth_ == 0) refuse(fmt::format("the header is {} where a JSON object is needed", found));
    if (depth_ == 1) refuse(fmt::format("{} is {} where an object is needed", quoted_name(name_), found));
    if (in_metadata_) refuse(fmt::format("metadata {} is {} where a text is needed", quoted_name(key_), found));
    if (depth_ == 2)
      refuse(fmt::format("\"{}\" of tensor {} is {} where {} is needed", key_, quoted_name(name_), found,
                         key_ == "dtype" ? "a text" : "a list"));
    refuse(fmt::format("\"{}\" of tensor {} contains {} where a whole number from 0 is needed", key_,
                       quoted_name(name_), found));
  }

  const std::string& path_;
  SafetensorsHeader header_;
  int depth_ = 0;
  bool in_metadata_ = false;
  bool has_metadata_ = false;
  std::string name_;  // the key at depth 1
  std::string key_;   // the key at depth 2
  SafetensorsEntry entry_;
  std::set<std::string, std::less<>> seen_;
  std::vector<std::uint64_t> numbers_;
};

void require_bytes(const std::string& path, const std::string& name, const SafetensorsEntry& entry,
                   std::uint64_t data_bytes) {
  const auto type =
      std::find_if(kTypeBytes.begin(), kTypeBytes.end(), [&](const auto& known) { return known.first == entry.dtype; });
  if (type == kTypeBytes.end())
    throw DataError(fmt::format("{}: tensor {} has the unknown element type {}", path, quoted_name(name),
                                quoted_name(entry.dtype)));
  if (entry.begin > entry.end)
    throw DataError(fmt::format("{}: tensor {} begins at byte {}, after its end at byte {}", path, quoted_name(name),
                                entry.begin, entry.end));
  if (entry.end > data_bytes)
    throw DataError(fmt::format("{}: tensor {} ends at byte {} of the data, and the file has only {} bytes of it", path,
                                quoted_name(name), entry.end, data_bytes));
  const std::uint64_t bytes = static_cast<std::uint64_t>(entry.shape.elements()) * type->second;
  if (entry.end - entry.begin != bytes)
    throw DataError(fmt::format("{}: tensor {} has {} bytes, and {}{} needs {}", path, quoted_name(name),
                                entry.end - entry.begin, entry.dtype, entry.shape.to_string(), bytes));
}

void require_covered(const std::string& path, const SafetensorsHeader& header, std::uint64_t data_bytes) {
  struct Place {
    std::uint64_t begin;
    std::uint64_t end;
    const std::string* name;
  };
  std::vector<Place> places;
  for (const auto& [name, entry] : header.entries) {
    require_bytes(path, name, entry, data_bytes);
    places.push_back({entry.begin, entry.end, &name});
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  std::uint64_t covered = 0;
  const std::string* before = nullptr;
  for (const Place& place : places) {
    if (place.begin < covered)
      throw DataError(fmt::format("{}: tensors {} and {} overlap: one ends at byte {}, the other begins at byte {}",
                                  path, quoted_name(*before), quoted_name(*place.name), covered, place.begin));
    if (place.begin > covered)
      throw DataError(fmt::format("{}: bytes {} to {} of the data, before tensor {}, belong to no tensor", path,
                                  covered, place.begin - 1, quoted_name(*place.name)));
    covered = place.end;
    before = place.name;
  }
  if (covered != data_bytes)
    throw DataError(fmt::format("{}: the tensors end at byte {} of the data, and the file has {} bytes of it", path,
                                covered, data_bytes));
}

}  // namespace

std::string quoted_name(std::string_view name) {
  constexpr std::size_t kShown = 100;
  const auto dumped = [](std::string_view text) {
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  };
  return name.size() <= kShown ? dumped(name) : dumped(name.substr(0, kShown)) + "...";
}

SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text, std::uint64_t data_bytes) {
  HeaderHandler handler(path);
  // The handler refuses by throwing: a parse that comes back is complete.
  if (!json::sax_parse(text.begin(), text.end(), &handler))
    throw InternalError("safetensors: the header was refused without a reason");
  SafetensorsHeader header = handler.take();
  require_covered(path, header, data_bytes);
  return header;
}

}  // namespace espalier
