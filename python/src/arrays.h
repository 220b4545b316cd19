/// NumPy arrays in and out without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "espalier/base/source_line.h"
#include "espalier/graph/graph.h"
#include "espalier/tensor/tensor.h"

namespace espalier::python {

/// A contiguous vector of integers that the caller keeps: an array, or anything with a buffer.
using Int32Array = nanobind::ndarray<const std::int32_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
/// A read-only array over memory that another object keeps.
using ReadOnlyInt32 = nanobind::ndarray<nanobind::numpy, const std::int32_t, nanobind::ndim<1>>;
/// Contiguous numbers of one of the types that tensors have.
template <class T>
using Numbers = nanobind::ndarray<const T, nanobind::c_contig, nanobind::device::cpu>;

inline std::span<const std::int32_t> span_of(const Int32Array& array) { return {array.data(), array.size()}; }

/// A read-only array of these numbers, which live as long as `owner` does.
inline ReadOnlyInt32 view_of(std::span<const std::int32_t> numbers, nanobind::handle owner) {
  return {numbers.data(), {numbers.size()}, owner};
}

/// An array that owns the tensor's memory.
nanobind::object array_of(Tensor tensor);
/// A read-only array over the tensor's memory, which lives as long as `owner` does.
nanobind::object view_of(const Tensor& tensor, nanobind::handle owner);

/// An argument as contiguous numbers: the array itself where it is of this type and layout, otherwise a converted copy.
/// Takes whatever NumPy or DLPack takes.
template <class T>
Numbers<T> numbers_of(nanobind::handle argument);

Shape shape_of(nanobind::handle argument);
nanobind::tuple tuple_of(const Shape& shape);
DType dtype_named(std::string_view name);

/// A tensor of this element type with the numbers of an array, a number or nested lists.
Tensor tensor_of(nanobind::handle argument, DType dtype);
/// A leaf with the numbers of an array, a number or nested lists, in the graph's element type.
Expr input_of(Graph& graph, nanobind::handle argument, SourceLine where);
/// Whole numbers, such as ids and row numbers.
std::vector<std::int32_t> integers_of(nanobind::handle argument);

}  // namespace espalier::python
