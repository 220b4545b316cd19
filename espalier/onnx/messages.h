/// The messages of an ONNX file that the export writes, by the numbers of ONNX's public format (onnx.proto3).
///
/// The library writes protocol buffers itself: one more registration of ONNX's messages in a process that has them
/// already, as Python's may, would end it.
///
/// Thread safety: plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/data/proto_writer.h"

namespace espalier::onnx {

inline constexpr std::int64_t kIrVersion = 8;
inline constexpr std::int64_t kOpset = 18;

enum class ElementType : std::int32_t { kFloat = 1, kInt64 = 7, kBool = 9 };

/// An attribute of a node: its bytes.
inline std::string attribute(std::string_view name, std::int64_t value) {
  return data::ProtoWriter().bytes(1, name).integer(3, value).integer(20, 2).finish();
}
inline std::string attribute(std::string_view name, float value) {
  return data::ProtoWriter().bytes(1, name).number(2, value).integer(20, 1).finish();
}
inline std::string attribute(std::string_view name, std::string_view text) {
  return data::ProtoWriter().bytes(1, name).bytes(4, text).integer(20, 3).finish();
}
inline std::string attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  data::ProtoWriter message;
  message.bytes(1, name);
  for (const std::int64_t value : values) message.integer(8, value);
  return message.integer(20, 7).finish();
}
inline std::string graph_attribute(std::string_view name, std::string_view graph) {
  return data::ProtoWriter().bytes(1, name).bytes(6, graph).integer(20, 5).finish();
}

/// A tensor with its numbers as raw bytes, the lowest first.
inline std::string tensor(std::string_view name, ElementType type, const std::vector<std::int64_t>& shape,
                          std::string_view raw) {
  data::ProtoWriter message;
  for (const std::int64_t size : shape) message.integer(1, size);
  return message.integer(2, static_cast<std::int64_t>(type)).bytes(8, name).bytes(9, raw).finish();
}
/// A tensor whose numbers are in another file.
inline std::string outside_tensor(std::string_view name, ElementType type, const std::vector<std::int64_t>& shape,
                                  std::string_view file, std::int64_t offset, std::int64_t bytes) {
  data::ProtoWriter message;
  for (const std::int64_t size : shape) message.integer(1, size);
  message.integer(2, static_cast<std::int64_t>(type)).bytes(8, name);
  const std::vector<std::pair<std::string, std::string>> entries{
      {"location", std::string(file)}, {"offset", std::to_string(offset)}, {"length", std::to_string(bytes)}};
  for (const auto& [key, value] : entries)
    message.bytes(13, data::ProtoWriter().bytes(1, key).bytes(2, value).finish());
  return message.integer(14, 1).finish();
}

/// A size of an axis: a number, or a name if it is only known at run time.
struct Dim {
  Dim(std::int64_t of_size) : size(of_size) {}            // NOLINT(google-explicit-constructor): written as {"n", 3}
  Dim(std::string of_name) : name(std::move(of_name)) {}  // NOLINT(google-explicit-constructor)
  Dim(const char* of_name) : name(of_name) {}             // NOLINT(google-explicit-constructor)
  std::int64_t size = 0;
  std::string name;
};

inline std::string value_info(std::string_view name, ElementType type, const std::vector<Dim>& dims) {
  data::ProtoWriter shape;
  for (const Dim& dim : dims)
    shape.bytes(1, dim.name.empty() ? data::ProtoWriter().integer(1, dim.size).finish()
                                    : data::ProtoWriter().bytes(2, dim.name).finish());
  const std::string tensor_type =
      data::ProtoWriter().integer(1, static_cast<std::int64_t>(type)).message(2, shape).finish();
  return data::ProtoWriter().bytes(1, name).bytes(2, data::ProtoWriter().bytes(1, tensor_type).finish()).finish();
}

inline std::string metadata_entry(std::string_view key, std::string_view value) {
  return data::ProtoWriter().bytes(1, key).bytes(2, value).finish();
}

}  // namespace espalier::onnx
