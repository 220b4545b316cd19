/// What the functions that write ops share.
#pragma once

#include <cstring>
#include <type_traits>

#include "espalier/onnx/emissions.h"

namespace espalier::onnx {

inline constexpr auto kWritten = Emission::Form::kWritten;

template <class T>
T Use::attrs_as() const {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  std::memcpy(static_cast<void*>(&value), attrs.data(), sizeof(T));
  return value;
}

}  // namespace espalier::onnx
