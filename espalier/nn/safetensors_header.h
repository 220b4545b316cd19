/// The header of a safetensors file: its JSON text parsed and checked, entry by entry and as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "espalier/base/shape.h"

namespace espalier {

struct SafetensorsEntry {
  std::string dtype;  // as the file names it: "F32"
  Shape shape;
  std::uint64_t begin = 0;  // in bytes, from the end of the header
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsEntry, std::less<>> entries;
  std::map<std::string, std::string, std::less<>> metadata;
};

/// The name as JSON would write it, shortened: for messages, whatever bytes a name is made of.
std::string quoted_name(std::string_view name);

/// Refuses (DataError that begins with `path`) text that is not one JSON object of entries, keys given twice, and
/// entries that do not cover the `data_bytes` after the header exactly, each with as many bytes as its shape and type
/// need.
SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text, std::uint64_t data_bytes);

}  // namespace espalier
