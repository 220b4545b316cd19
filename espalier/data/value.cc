#include "espalier/data/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "espalier/base/error.h"
#include "espalier/data/text_file.h"
#include "espalier/data/value_payload.h"

namespace espalier {
namespace {

// Maps of more entries are searched by an ordered index; comparing keys one by one is faster below.
constexpr std::size_t kSmallMap = 16;

[[noreturn]] void refuse_double(std::string_view key) {
  throw UsageError(fmt::format("the key {} is given twice in one map", data::quoted(key)));
}

// The keys of a map as a message lists them.
std::string keys_text(std::span<const Value::Entry> entries) {
  constexpr std::size_t kShown = 12;
  if (entries.empty()) return "it is empty";
  std::string text = "its keys are ";
  for (std::size_t i = 0; i < std::min(entries.size(), kShown); ++i)
    text += (i == 0 ? "" : ", ") + data::quoted(entries[i].key);
  if (entries.size() > kShown) text += fmt::format(" and {} more", entries.size() - kShown);
  return text;
}

}  // namespace

// --- making ----------------------------------------------------------------------------------------------------------

Value::Value(std::string text) : Value(new Text(std::move(text))) {}

Value Value::list(std::vector<Value> items) { return Value(new List(std::move(items))); }

Value Value::map(std::vector<Entry> entries) { return Value(new Map(std::move(entries))); }

Value::Map::Map(std::vector<Entry> its_entries) : Payload(Kind::kMap), entries(std::move(its_entries)) {
  if (entries.size() <= kSmallMap) {
    for (std::size_t i = 1; i < entries.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (entries[i].key == entries[j].key) refuse_double(entries[i].key);
    return;
  }
  if (entries.size() > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(fmt::format("a map of {} entries has more than the 2^32 - 1 it may have", entries.size()));
  by_key.resize(entries.size());
  std::iota(by_key.begin(), by_key.end(), std::uint32_t{0});
  std::ranges::sort(by_key, {}, [this](std::uint32_t place) -> std::string_view { return entries[place].key; });
  const auto twice = std::ranges::adjacent_find(
      by_key, [this](std::uint32_t a, std::uint32_t b) { return entries[a].key == entries[b].key; });
  if (twice != by_key.end()) refuse_double(entries[*twice].key);
}

// --- reading ---------------------------------------------------------------------------------------------------------

const Value* Value::Map::find(std::string_view key) const {
  if (by_key.empty()) {
    for (const Entry& entry : entries)
      if (entry.key == key) return &entry.value;
    return nullptr;
  }
  const auto key_of = [this](std::uint32_t place) -> std::string_view { return entries[place].key; };
  const auto found = std::ranges::lower_bound(by_key, key, {}, key_of);
  return found != by_key.end() && key_of(*found) == key ? &entries[*found].value : nullptr;
}

const Value::Text& Value::text() const { return static_cast<const Text&>(*content_.payload); }

const Value::List& Value::as_list() const {
  if (!is_list()) refuse("a list");
  return static_cast<const List&>(*content_.payload);
}

const Value::Map& Value::as_map() const {
  if (!is_map()) refuse("a map");
  return static_cast<const Map&>(*content_.payload);
}

std::string_view Value::as_string() const {
  if (!is_string()) refuse("a string");
  return text().text;
}

std::size_t Value::size() const {
  if (is_list()) return as_list().items.size();
  if (is_map()) return as_map().entries.size();
  refuse("a list or a map");
}

const Value& Value::operator[](std::size_t place) const {
  const std::vector<Value>& items = as_list().items;
  if (place >= items.size())
    throw UsageError(fmt::format("item {}, counted from 0, is outside a list of {}", place, items.size()));
  return items[place];
}

std::span<const Value> Value::items() const { return as_list().items; }

std::span<const Value::Entry> Value::entries() const { return as_map().entries; }

const Value* Value::find(std::string_view key) const { return as_map().find(key); }

const Value& Value::at(std::string_view key) const {
  const Map& map = as_map();
  if (const Value* value = map.find(key)) return *value;
  throw UsageError(fmt::format("the map has no key {}; {}", data::quoted(key), keys_text(map.entries)));
}

// --- letting go ------------------------------------------------------------------------------------------------------

void Value::let_go() noexcept {
  if (content_.payload->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(content_.payload);
}

// Lets go of the value's payload; the payloads to destroy are then `others`, with this one if it has no holder left.
Value::Payload* Value::release(Value& value, Payload* others) noexcept {
  if (!value.has_payload()) return others;
  value.kind_ = Kind::kNull;
  Payload* payload = value.content_.payload;
  if (payload->holders.fetch_sub(1, std::memory_order_acq_rel) > 1) return others;
  payload->next_to_destroy = others;
  return payload;
}

void Value::destroy(Payload* payload) noexcept {
  Payload* left = payload;
  while (left != nullptr) {
    Payload* current = std::exchange(left, left->next_to_destroy);
    switch (current->kind) {
      case Kind::kList: {
        auto* list = static_cast<List*>(current);
        for (Value& item : list->items) left = release(item, left);
        delete list;
        break;
      }
      case Kind::kMap: {
        auto* map = static_cast<Map*>(current);
        for (Entry& entry : map->entries) left = release(entry.value, left);
        delete map;
        break;
      }
      default: delete static_cast<Text*>(current);
    }
  }
}

// --- refusing --------------------------------------------------------------------------------------------------------

std::string_view name_of(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kNull: return "null";
    case Value::Kind::kBool: return "a bool";
    case Value::Kind::kInteger: return "an integer";
    case Value::Kind::kFloat: return "a float";
    case Value::Kind::kString: return "a string";
    case Value::Kind::kList: return "a list";
    case Value::Kind::kMap: return "a map";
  }
  throw InternalError("a Value has a kind that is none");
}

void Value::refuse(std::string_view expected) const {
  std::string given(name_of(kind_));
  if (is_bool() || is_integer() || is_float()) given += fmt::format(" ({})", to_text());
  if (is_string()) given += fmt::format(" ({})", data::quoted(as_string()));
  if (is_list()) given += fmt::format(" of {} item{}", size(), size() == 1 ? "" : "s");
  if (is_map()) given += fmt::format(" of {} entr{}", size(), size() == 1 ? "y" : "ies");
  throw UsageError(fmt::format("expected {}, but the value is {}", expected, given));
}

void Value::refuse_large(std::uint64_t value) {
  throw UsageError(fmt::format("the integer {} is above 2^63 - 1, the largest that a Value holds", value));
}

}  // namespace espalier
