/// A number as messages write it.
#pragma once

#include <array>
#include <charconv>
#include <string>

#include "espalier/base/export.h"

namespace espalier::ops {

/// The fewest digits that give the same number again: "0.1", "-1", "1e-05", "inf", "nan".
inline std::string number_text(double number) {
  std::array<char, 32> text{};
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

}  // namespace espalier::ops
