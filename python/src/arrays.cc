#include "arrays.h"

#include <nanobind/stl/string_view.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "espalier/base/error.h"

namespace nb = nanobind;

namespace espalier::python {

namespace {

template <class T>
nb::object array_over(T* data, const Shape& shape, nb::handle owner) {
  std::array<std::size_t, kMaxRank> sizes{};
  for (std::int32_t axis = 0; axis < shape.rank(); ++axis)
    sizes[static_cast<std::size_t>(axis)] = static_cast<std::size_t>(shape[axis]);
  return nb::cast(nb::ndarray<nb::numpy, T>(data, static_cast<std::size_t>(shape.rank()), sizes.data(), owner));
}

// Calls f with the elements of the tensor by their type.
template <class AnyTensor, class F>
nb::object with_elements(AnyTensor& tensor, F f) {
  switch (tensor.dtype()) {
    case DType::kFloat32: return f(tensor.template as<float>().data());
    case DType::kFloat64: return f(tensor.template as<double>().data());
    case DType::kInt32: return f(tensor.template as<std::int32_t>().data());
  }
  throw InternalError("array: unknown element type");
}

template <class T>
const char* numpy_name() {
  return name_of(dtype_of<T>).data();
}

nb::module_& numpy() {
  static auto* const module = new nb::module_(nb::module_::import_("numpy"));
  return *module;
}

template <class T>
Shape shape_of_numbers(const Numbers<T>& numbers) {
  Shape shape;
  for (std::size_t axis = 0; axis < numbers.ndim(); ++axis)
    shape = shape.inserted(shape.rank(), static_cast<std::int64_t>(numbers.shape(axis)));
  return shape;
}

}  // namespace

nb::object array_of(Tensor tensor) {
  auto kept = std::make_unique<Tensor>(std::move(tensor));
  Tensor& numbers = *kept;
  const nb::capsule owner(kept.release(), [](void* pointer) noexcept { delete static_cast<Tensor*>(pointer); });
  return with_elements(numbers, [&](auto* data) { return array_over(data, numbers.shape(), owner); });
}

nb::object view_of(const Tensor& tensor, nb::handle owner) {
  return with_elements(tensor, [&](const auto* data) { return array_over(data, tensor.shape(), owner); });
}

template <class T>
Numbers<T> numbers_of(nb::handle argument) {
  Numbers<T> numbers;
  if (nb::try_cast(argument, numbers, /*convert=*/false)) return numbers;
  const nb::object array = numpy().attr("ascontiguousarray")(argument, numpy_name<T>());
  if (!nb::try_cast(array, numbers, false)) throw UsageError("an array of numbers is expected");
  return numbers;
}
template Numbers<float> numbers_of<float>(nb::handle);
template Numbers<double> numbers_of<double>(nb::handle);
template Numbers<std::int32_t> numbers_of<std::int32_t>(nb::handle);

Shape shape_of(nb::handle argument) {
  Shape shape;
  if (PyLong_Check(argument.ptr()) != 0) return shape.inserted(0, nb::cast<std::int64_t>(argument));
  for (const nb::handle size : nb::iter(argument)) shape = shape.inserted(shape.rank(), nb::cast<std::int64_t>(size));
  return shape;
}

nb::tuple tuple_of(const Shape& shape) {
  nb::list sizes;
  for (std::int32_t axis = 0; axis < shape.rank(); ++axis) sizes.append(shape[axis]);
  return nb::tuple(sizes);
}

DType dtype_named(std::string_view name) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32})
    if (name == name_of(dtype)) return dtype;
  throw UsageError("element type \"" + std::string(name) + "\" is unknown; there are float32, float64 and int32");
}

Tensor tensor_of(nb::handle argument, DType dtype) {
  const auto make = [&]<class T>(T) {
    const Numbers<T> numbers = numbers_of<T>(argument);
    Tensor tensor = Tensor::unset(shape_of_numbers(numbers), dtype);
    if (tensor.bytes() > 0) std::memcpy(tensor.data(), numbers.data(), tensor.bytes());
    return tensor;
  };
  switch (dtype) {
    case DType::kFloat32: return make(0.0F);
    case DType::kFloat64: return make(0.0);
    case DType::kInt32: return make(std::int32_t{0});
  }
  throw InternalError("tensor: unknown element type");
}

Expr input_of(Graph& graph, nb::handle argument, SourceLine where) {
  const DType dtype = graph.options().dtype;
  if (PyFloat_Check(argument.ptr()) != 0 || PyLong_Check(argument.ptr()) != 0)
    return graph.constant({}, nb::cast<double>(argument), dtype, where.file(), where.line());
  if (dtype != DType::kFloat32) return graph.input(tensor_of(argument, dtype), where.file(), where.line());
  const Numbers<float> numbers = numbers_of<float>(argument);
  return graph.input(shape_of_numbers(numbers), std::span<const float>(numbers.data(), numbers.size()), where.file(),
                     where.line());
}

std::vector<std::int32_t> integers_of(nb::handle argument) {
  Int32Array integers;
  if (nb::try_cast(argument, integers, false)) return {integers.data(), integers.data() + integers.size()};
  const nb::object array = numpy().attr("asarray")(argument);
  const auto kind = nb::cast<std::string_view>(array.attr("dtype").attr("kind"));
  if (nb::cast<std::size_t>(array.attr("size")) == 0) return {};
  if (kind != "i" && kind != "u") throw UsageError("whole numbers are expected, such as an array of ids");
  const Numbers<std::int64_t> wide = nb::cast<Numbers<std::int64_t>>(numpy().attr("ascontiguousarray")(array, "int64"));
  std::vector<std::int32_t> result;
  result.reserve(wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const std::int64_t number = wide.data()[i];
    if (number < std::numeric_limits<std::int32_t>::min() || number > std::numeric_limits<std::int32_t>::max())
      throw UsageError(std::to_string(number) + " does not fit into 32 bits");
    result.push_back(static_cast<std::int32_t>(number));
  }
  return result;
}

}  // namespace espalier::python
