/// What the handles of strings, lists and maps point to.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "espalier/data/value.h"

namespace espalier {

struct Value::Text final : Payload {
  explicit Text(std::string its_text) : Payload(Kind::kString), text(std::move(its_text)) {}

  const std::string text;
};

struct Value::List final : Payload {
  explicit List(std::vector<Value> its_items) : Payload(Kind::kList), items(std::move(its_items)) {}

  std::vector<Value> items;  // changed by destroy() only
};

struct Value::Map final : Payload {
  /// Refuses a key that is given twice.
  explicit Map(std::vector<Entry> its_entries);

  const Value* find(std::string_view key) const;

  std::vector<Entry> entries;         // changed by destroy() only
  std::vector<std::uint32_t> by_key;  // places of the entries, ordered by key; empty in small maps
};

}  // namespace espalier
