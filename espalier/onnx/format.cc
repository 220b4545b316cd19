#include "espalier/onnx/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "espalier/base/error.h"

namespace espalier::onnx {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::array<std::string_view, 4> kFields{"none", "row", "index", "number"};

/// FNV-1a, 64 bits.
std::string hash_text(std::string_view text) {
  std::uint64_t state = 0xCBF29CE484222325ULL;
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return fmt::format("{:016x}", state);
}

Value list_of(const std::vector<std::int64_t>& numbers) {
  std::vector<Value> items;
  items.reserve(numbers.size());
  for (const std::int64_t number : numbers) items.emplace_back(number);
  return Value::list(std::move(items));
}
std::vector<std::int64_t> numbers_of(const Value& value, std::int64_t least) {
  std::vector<std::int64_t> numbers;
  for (const Value& item : value.items()) {
    numbers.push_back(item.as_integer());
    if (numbers.back() < least || numbers.back() > Shape::kMostElements)
      throw UsageError(fmt::format("expected a number from {}, not {}", least, numbers.back()));
  }
  return numbers;
}
std::vector<std::int64_t> widths_in(const Value& value) { return numbers_of(value, 1); }

Shape shape_in(const Value& value) {
  const std::vector<std::int64_t> sizes = numbers_of(value, 1);
  if (sizes.size() > static_cast<std::size_t>(kMaxRank))
    throw UsageError(fmt::format("expected a shape of rank {} or less, not {}", kMaxRank, sizes.size()));
  Shape shape;
  for (std::size_t a = 0; a < sizes.size(); ++a) shape = shape.inserted(static_cast<std::int32_t>(a), sizes[a]);
  return shape;
}

SignatureFormat signature_in(const Value& value) {
  SignatureFormat signature;
  signature.name = value.at("name").as_string();
  signature.key = value.at("key").as_string();
  const auto* const field = std::find(kFields.begin(), kFields.end(), value.at("field").as_string());
  if (field == kFields.end()) throw UsageError(fmt::format("there is no field \"{}\"", value.at("field").as_string()));
  signature.field = static_cast<Field>(field - kFields.begin());
  signature.choices = value.at("choices").as_integer();
  signature.ragged = value.at("any_number").as_bool();
  signature.operands = widths_in(value.at("operands"));
  signature.results = widths_in(value.at("results"));
  if (signature.ragged && signature.operands.size() != 1)
    throw UsageError(fmt::format("signature \"{}\": of any number of operands one width is expected, not {}",
                                 signature.name, signature.operands.size()));
  if (signature.results.empty()) throw UsageError(fmt::format("signature \"{}\" has no results", signature.name));
  return signature;
}

}  // namespace

std::size_t Format::pieces() const {
  std::size_t count = widths.size();
  for (const SignatureFormat& signature : signatures) count += signature.pieces();
  return count;
}

std::size_t Format::place_of(std::int64_t width) const {
  return static_cast<std::size_t>(std::lower_bound(widths.begin(), widths.end(), width) - widths.begin());
}

Value Format::to_value() const {
  std::vector<Value> all;
  for (const SignatureFormat& signature : signatures)
    all.push_back(Value::map({{"name", signature.name},
                              {"key", signature.key},
                              {"operands", list_of(signature.operands)},
                              {"any_number", signature.ragged},
                              {"field", kFields[static_cast<std::size_t>(signature.field)]},
                              {"choices", signature.choices},
                              {"results", list_of(signature.results)}}));
  std::vector<Value> given;
  for (const OutputFormat& output : outputs) {
    std::vector<std::int64_t> shape;
    shape.reserve(static_cast<std::size_t>(output.shape.rank()));
    for (std::int32_t a = 0; a < output.shape.rank(); ++a) shape.push_back(output.shape[a]);
    given.push_back(Value::map({{"name", output.name}, {"shape", list_of(shape)}}));
  }
  return Value::map({{"format", kFormat},
                     {"widths", list_of(widths)},
                     {"row_widths", list_of(row_widths)},
                     {"numbers", has_numbers},
                     {"signatures", Value::list(std::move(all))},
                     {"outputs", Value::list(std::move(given))}});
}

Format Format::from_value(const Value& value) {
  if (value.at("format").as_integer() != kFormat)
    throw UsageError(fmt::format("its schedule has format {}, and this version reads format {}",
                                 value.at("format").as_integer(), kFormat));
  Format format;
  format.widths = widths_in(value.at("widths"));
  format.row_widths = widths_in(value.at("row_widths"));
  format.has_numbers = value.at("numbers").as_bool();
  for (const Value& signature : value.at("signatures").items()) format.signatures.push_back(signature_in(signature));
  for (const Value& output : value.at("outputs").items())
    format.outputs.push_back({std::string(output.at("name").as_string()), shape_in(output.at("shape"))});
  if (!std::is_sorted(format.widths.begin(), format.widths.end())) throw UsageError("its widths do not ascend");
  const auto require_width = [&](std::int64_t width) {
    if (!std::binary_search(format.widths.begin(), format.widths.end(), width))
      throw UsageError(fmt::format("width {} is not among its widths", width));
  };
  for (const SignatureFormat& signature : format.signatures) {
    for (const std::int64_t width : signature.operands) require_width(width);
    for (const std::int64_t width : signature.results) require_width(width);
  }
  for (const OutputFormat& output : format.outputs) require_width(output.shape.elements());
  return format;
}

SignatureFormat format_of(const Body& body) {
  SignatureFormat format;
  format.name = body.name;
  format.key = hash_text(body.key());
  format.field = body.field;
  format.choices = body.choices;
  format.ragged = body.ragged;
  for (const Shape& shape : body.operands) format.operands.push_back(shape.elements());
  for (std::size_t k = 0; k < body.results.size(); ++k) format.results.push_back(body.result(k).elements());
  return format;
}

}  // namespace espalier::onnx
