/// Value: a piece of JSON-like data, as the readers of this folder give it and as blocks take it.
///
///     const Value tree = Value::map({{"left", "good"}, {"right", Value::list({1, 2.5, nullptr})}});
///     tree.at("right")[1].as_float();   // 2.5
///
/// A Value is null, a bool, an integer, a float, a string, a list or a map. It is a handle of 16 bytes: strings, lists
/// and maps are payloads that copies share and count, so copying is cheap, and one payload may stand in several places
/// of a larger Value (a DAG). identity() tells whether two handles share a payload.
///
/// Invariants:
/// 1. A payload never changes, so a Value contains neither itself nor anything that is made later.
/// 2. Nothing here recurses: a list 1,000,000 deep is made, compared, printed and destroyed like any other.
///
/// Thread safety: Values may be read and copied by any number of threads, also where they share payloads; one handle
/// belongs to one thread while it is assigned to.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/export.h"

namespace espalier {

namespace detail {

/// The types that become an integer: all but bool and the characters, of which nobody knows what they stand for.
template <class T>
concept WholeNumber =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

}  // namespace detail

class ESPALIER_EXPORT Value {
 public:
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kFloat, kString, kList, kMap };
  /// A key of a map and what it stands for.
  struct Entry;

  // The conversions are implicit so that lists and maps can be written down.
  // NOLINTBEGIN(google-explicit-constructor)
  Value() noexcept = default;
  Value(std::nullptr_t) noexcept {}
  template <std::same_as<bool> T>  // not what merely converts to bool
  Value(T value) noexcept : kind_(Kind::kBool), content_{.truth = value} {}
  template <std::floating_point T>
  Value(T value) noexcept : kind_(Kind::kFloat), content_{.number = static_cast<double>(value)} {}
  /// Refuses (UsageError) what is above 2^63 - 1.
  template <detail::WholeNumber T>
  Value(T value) : kind_(Kind::kInteger), content_{.integer = static_cast<std::int64_t>(value)} {
    if (!std::in_range<std::int64_t>(value)) refuse_large(static_cast<std::uint64_t>(value));
  }
  Value(std::string text);
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  // NOLINTEND(google-explicit-constructor)

  static Value list(std::vector<Value> items);
  /// Refuses (UsageError) a key that is given twice.
  static Value map(std::vector<Entry> entries);

  Value(const Value& other) noexcept : kind_(other.kind_), content_(other.content_) { hold(); }
  /// Leaves null behind.
  Value(Value&& other) noexcept : kind_(std::exchange(other.kind_, Kind::kNull)), content_(other.content_) {}
  Value& operator=(const Value& other) noexcept {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Value taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Value() {
    if (has_payload()) let_go();
  }
  void swap(Value& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(content_, other.content_);
  }

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_bool() const { return kind_ == Kind::kBool; }
  bool is_integer() const { return kind_ == Kind::kInteger; }
  bool is_float() const { return kind_ == Kind::kFloat; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_list() const { return kind_ == Kind::kList; }
  bool is_map() const { return kind_ == Kind::kMap; }

  // All that follow refuse (UsageError) a Value of another kind, naming the kind that was expected and the Value.

  bool as_bool() const {
    if (!is_bool()) refuse("a bool");
    return content_.truth;
  }
  std::int64_t as_integer() const {
    if (!is_integer()) refuse("an integer");
    return content_.integer;
  }
  /// Of an integer too.
  double as_float() const {
    if (is_integer()) return static_cast<double>(content_.integer);
    if (!is_float()) refuse("a float");
    return content_.number;
  }
  /// Lives as long as any handle to this string.
  std::string_view as_string() const;

  /// Of a list or map: how many items or entries.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  /// An item of a list. Refuses (UsageError) a place outside it.
  const Value& operator[](std::size_t place) const;
  /// The items of a list, which live as long as any handle to it.
  std::span<const Value> items() const;
  /// The entries of a map in the order in which they were given, which live as long as any handle to it.
  std::span<const Entry> entries() const;
  /// What a map has for the key; nullptr for nothing. Costs a comparison an entry in small maps, the logarithm of
  /// their number in large ones.
  const Value* find(std::string_view key) const;
  /// The same, but refuses (UsageError) a key that is not there, and names those that are.
  const Value& at(std::string_view key) const;

  /// The address of the payload: equal for copies of one string, list or map, different for others that live at the
  /// same time. nullptr for all other kinds.
  const void* identity() const { return has_payload() ? content_.payload : nullptr; }

  /// Same kind and same content; the order of a map's entries does not matter. The integer 1 and the float 1.0 differ;
  /// NaN equals nothing, except that a payload equals itself.
  friend ESPALIER_EXPORT bool operator==(const Value& a, const Value& b);

  /// Compact JSON on one line. A float always has a point or an exponent, and reads back as the same number. What JSON
  /// cannot say is written as it is: NaN, Infinity, -Infinity, and strings that are not UTF-8.
  std::string to_text() const;

 private:
  /// What copies share. Its kinds are in value_payload.h.
  struct Payload {
    explicit Payload(Kind its_kind) : kind(its_kind) {}

    std::atomic<std::size_t> holders = 1;
    Payload* next_to_destroy = nullptr;  // links those without holders: destruction needs neither stack nor memory
    const Kind kind;
  };
  struct Text;
  struct List;
  struct Map;
  class Comparison;

  union Content {
    std::int64_t integer;
    bool truth;
    double number;
    Payload* payload;
  };

  explicit Value(Payload* payload) noexcept : kind_(payload->kind), content_{.payload = payload} {}

  bool has_payload() const { return kind_ >= Kind::kString; }
  bool has_one_holder() const { return content_.payload->holders.load(std::memory_order_relaxed) == 1; }
  void hold() const noexcept {
    if (has_payload()) content_.payload->holders.fetch_add(1, std::memory_order_relaxed);
  }
  void let_go() noexcept;
  static void destroy(Payload* payload) noexcept;
  static Payload* release(Value& value, Payload* others) noexcept;

  const Text& text() const;
  const List& as_list() const;
  const Map& as_map() const;

  [[noreturn]] void refuse(std::string_view expected) const;
  [[noreturn]] static void refuse_large(std::uint64_t value);

  Kind kind_ = Kind::kNull;
  Content content_{.integer = 0};
};

struct Value::Entry {
  std::string key;
  Value value;
};

static_assert(sizeof(Value) == 16);

/// A kind with its article, for messages: "null", "an integer", "a map".
ESPALIER_EXPORT std::string_view name_of(Value::Kind kind);

}  // namespace espalier
