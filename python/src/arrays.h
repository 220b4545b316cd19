/// NumPy arrays in and out without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace espalier::python {

/// A contiguous vector of integers that the caller keeps: an array, or anything with a buffer.
using Int32Array = nanobind::ndarray<const std::int32_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
/// A read-only array over memory that another object keeps.
using ReadOnlyInt32 = nanobind::ndarray<nanobind::numpy, const std::int32_t, nanobind::ndim<1>>;

inline std::span<const std::int32_t> span_of(const Int32Array& array) { return {array.data(), array.size()}; }

/// A read-only array of the vector's numbers, which lives as long as `owner` does.
inline ReadOnlyInt32 view_of(std::span<const std::int32_t> numbers, nanobind::handle owner) {
  return {numbers.data(), {numbers.size()}, owner};
}

/// An array that owns the vector.
template <class T>
nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>> array_of(std::vector<T> numbers) {
  auto kept = std::make_unique<std::vector<T>>(std::move(numbers));
  T* data = kept->data();
  const std::size_t size = kept->size();
  nanobind::capsule owner(kept.release(), [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
  return {data, {size}, owner};
}

}  // namespace espalier::python
