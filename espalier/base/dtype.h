/// The element types of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier {

enum class DType : std::int32_t { kFloat32, kFloat64, kInt32 };

constexpr std::size_t size_of(DType type) { return type == DType::kFloat64 ? 8 : 4; }

constexpr std::string_view name_of(DType type) {
  switch (type) {
    case DType::kFloat32: return "float32";
    case DType::kFloat64: return "float64";
    case DType::kInt32: return "int32";
  }
  return "unknown";
}

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace espalier
