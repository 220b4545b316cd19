/// Values and byte strings drawn from a seed, for properties and for fuzzing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/data/value.h"

namespace espalier::data {

/// Draws the same on every machine: of the standard library only the generator is used, which is defined to the bit.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}

  /// 0 to count - 1.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits_() % count); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  std::uint64_t bits() { return bits_(); }

  /// Finite, of any size.
  double number() {
    switch (below(4)) {
      case 0: return static_cast<double>(below(2000)) / 8 - 100;
      case 1: return static_cast<double>(static_cast<std::int64_t>(bits())) / 1e9;
      case 2: return 0.0;
      default: {
        const double any = std::bit_cast<double>(bits());
        return std::isfinite(any) ? any : 1e300;
      }
    }
  }
  std::int64_t integer() {
    const auto any = static_cast<std::int64_t>(bits());
    return chance(3) ? any : any % 100;
  }
  /// UTF-8 with quotes, escapes and control characters.
  std::string text() {
    static constexpr std::array<std::string_view, 16> kLetters = {
        "a", "b", "Z", "0", "7", " ", "\"", "\\", "(", ")", ";", "\n", "\t", "\x01", "\u00e9", "\U0001f333"};
    std::string text;
    for (std::size_t length = below(chance(8) ? 100 : 6); length > 0; --length)
      text += kLetters[below(kLetters.size())];
    return text;
  }
  std::string bytes(std::size_t longest) {
    std::string bytes(below(longest + 1), '\0');
    for (char& byte : bytes) byte = static_cast<char>(below(256));
    return bytes;
  }

  /// A Value of about `size` parts; only kinds that an s-expression has, if `plain`.
  Value value(std::size_t size, bool plain = false) {
    if (size <= 1) return scalar(plain);
    if (!plain && chance(2)) {
      std::set<std::string> keys;
      std::vector<Value::Entry> entries;
      for (std::size_t part : parts(size))
        if (const std::string key = text(); keys.insert(key).second) entries.push_back({key, value(part, plain)});
      return Value::map(std::move(entries));
    }
    std::vector<Value> items;
    for (std::size_t part : parts(size)) items.push_back(value(part, plain));
    return Value::list(std::move(items));
  }

  /// The bytes with a few of them changed, dropped, repeated, moved or added.
  std::string mutated(std::string bytes) {
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(bytes.size() + 1);
      const std::size_t length = std::min(1 + below(4), bytes.size() - at);
      switch (below(5)) {
        case 0:
          if (length > 0) bytes[at] = static_cast<char>(below(256));
          break;
        case 1: bytes.erase(at, length); break;
        case 2: bytes.insert(at, bytes.substr(below(bytes.size() + 1), 1 + below(8))); break;
        case 3: bytes.insert(at, 1, "[]{}(),:\"\\ \n0-.e"[below(16)]); break;
        default: bytes.resize(at);
      }
    }
    return bytes;
  }

 private:
  Value scalar(bool plain) {
    switch (below(plain ? 3 : 5)) {
      case 0: return integer();
      case 1: return number();
      case 2: return text();
      case 3: return chance(2);
      default: return nullptr;
    }
  }

  // How `size` is shared out among the items of a container.
  std::vector<std::size_t> parts(std::size_t size) {
    std::vector<std::size_t> parts;
    for (std::size_t left = size - 1; left > 0;) {
      parts.push_back(1 + below(left));
      left -= parts.back();
    }
    return parts;
  }

  std::mt19937_64 bits_;
};

}  // namespace espalier::data
