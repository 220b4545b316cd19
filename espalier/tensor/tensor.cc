#include "espalier/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <type_traits>

#include "espalier/base/error.h"

namespace espalier {
namespace {

Bytes allocate(const Shape& shape, DType dtype, bool zeros) {
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  try {
    return zeros ? allocate_zeros(bytes, "tensor") : allocate_bytes(bytes, "tensor");
  } catch (const ResourceError&) {
    refuse_bytes(bytes, fmt::format("tensor {}{}", name_of(dtype), shape.to_string()));
  }
}

void require_count(const Shape& shape, std::size_t count) {
  if (static_cast<std::int64_t>(count) != shape.elements())
    throw UsageError(fmt::format("tensor: {} values given for shape {}, which holds {}", count, shape.to_string(),
                                 shape.elements()));
}

/// Whether a is larger, with NaN as the largest of all.
template <class T>
bool exceeds(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a > b || (std::isnan(a) && !std::isnan(b));
  return a > b;
}

/// Calls f with a typed pointer to the elements.
template <class Bytes, class F>
decltype(auto) visit(DType dtype, Bytes* data, F&& f) {
  using Const = std::conditional_t<std::is_const_v<Bytes>, const int, int>;
  auto typed = [&]<class T>(T) {
    using Element = std::conditional_t<std::is_const_v<Const>, const T, T>;
    return f(reinterpret_cast<Element*>(data));
  };
  switch (dtype) {
    case DType::kFloat32: return typed(float{});
    case DType::kFloat64: return typed(double{});
    case DType::kInt32: return typed(std::int32_t{});
  }
  throw InternalError("tensor: unknown dtype");
}

}  // namespace

Tensor::Tensor() : Tensor(Shape{}) {}

Tensor::Tensor(const Shape& shape, DType dtype, Unset)
    : shape_(shape), dtype_(dtype), data_(allocate(shape, dtype, /*zeros=*/false)) {}

Tensor Tensor::unset(const Shape& shape, DType dtype) { return {shape, dtype, Unset{}}; }

Tensor::Tensor(const Shape& shape, DType dtype)
    : shape_(shape), dtype_(dtype), data_(allocate(shape, dtype, /*zeros=*/true)) {}

Tensor::Tensor(const Shape& shape, std::initializer_list<float> values)
    : Tensor(from(shape, std::span<const float>(values.begin(), values.size()))) {}

template <class T>
Tensor Tensor::from(const Shape& shape, std::span<const T> values) {
  require_count(shape, values.size());
  Tensor result = unset(shape, dtype_of<T>);
  if (!values.empty()) std::memcpy(result.data(), values.data(), values.size_bytes());
  return result;
}

Tensor Tensor::filled(const Shape& shape, double value, DType dtype) {
  Tensor result = unset(shape, dtype);
  visit(dtype, result.data(), [&](auto* p) {
    std::fill(p, p + result.elements(), static_cast<std::remove_reference_t<decltype(*p)>>(value));
  });
  return result;
}

Tensor::Tensor(const Tensor& other) : Tensor(other.shape_, other.dtype_, Unset{}) {
  std::memcpy(data_.get(), other.data_.get(), bytes());
}

Tensor& Tensor::operator=(const Tensor& other) {
  if (this != &other) *this = Tensor(other);
  return *this;
}

void Tensor::require(DType dtype) const {
  if (dtype != dtype_)
    throw UsageError(fmt::format("tensor: read as {}, but it holds {}", name_of(dtype), name_of(dtype_)));
  if (data_ == nullptr)
    throw UsageError(
        fmt::format("tensor: the elements of this {}{} were moved away or freed", name_of(dtype_), shape_.to_string()));
}

template <class T>
std::span<const T> Tensor::as() const {
  require(dtype_of<T>);
  return {reinterpret_cast<const T*>(data_.get()), static_cast<std::size_t>(elements())};
}

template <class T>
std::span<T> Tensor::as() {
  require(dtype_of<T>);
  return {reinterpret_cast<T*>(data_.get()), static_cast<std::size_t>(elements())};
}

double Tensor::item() const {
  if (elements() != 1)
    throw UsageError(fmt::format("tensor: item() needs one element, and {} holds {}", shape_.to_string(), elements()));
  return at(0);
}

double Tensor::at(std::int64_t i) const {
  if (i < 0 || i >= elements())
    throw UsageError(fmt::format("tensor: element {} is outside 0 to {}", i, elements() - 1));
  return visit(dtype_, data_.get(), [&](auto* p) { return static_cast<double>(p[i]); });
}

void Tensor::set(std::int64_t i, double value) {
  if (i < 0 || i >= elements())
    throw UsageError(fmt::format("tensor: element {} is outside 0 to {}", i, elements() - 1));
  visit(dtype_, data_.get(), [&](auto* p) { p[i] = static_cast<std::remove_reference_t<decltype(*p)>>(value); });
}

std::int64_t Tensor::place_of(std::initializer_list<std::int64_t> coordinates) const {
  const auto rank = static_cast<std::size_t>(shape_.rank());
  if (coordinates.size() != rank)
    throw UsageError(fmt::format("tensor: {} coordinates given for shape {}, which has {} axes", coordinates.size(),
                                 shape_.to_string(), rank));
  std::int64_t place = 0;
  std::int32_t axis = 0;
  for (const std::int64_t coordinate : coordinates) {
    const std::int64_t size = shape_[axis];
    if (coordinate < 0 || coordinate >= size)
      throw UsageError(
          fmt::format("tensor: coordinate {} is outside axis {} of shape {}", coordinate, axis, shape_.to_string()));
    place = place * size + coordinate;
    ++axis;
  }
  return place;
}

double Tensor::at(std::initializer_list<std::int64_t> coordinates) const { return at(place_of(coordinates)); }

void Tensor::set(std::initializer_list<std::int64_t> coordinates, double value) { set(place_of(coordinates), value); }

std::int64_t Tensor::argmax() const {
  if (elements() == 0)
    throw UsageError(fmt::format("tensor: argmax of shape {}, which has no elements", shape_.to_string()));
  return visit(dtype_, data(), [&](const auto* values) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < elements(); ++i)
      if (exceeds(values[i], values[best])) best = i;
    return best;
  });
}

Tensor Tensor::argmax(std::int32_t axis) const {
  const std::int32_t along = axis < 0 ? axis + shape_.rank() : axis;
  if (along < 0 || along >= shape_.rank())
    throw UsageError(fmt::format("tensor: argmax over axis {} of shape {}, which has {} axes", axis, shape_.to_string(),
                                 shape_.rank()));
  const std::int64_t size = shape_[along];
  if (size == 0)
    throw UsageError(
        fmt::format("tensor: argmax over axis {} of shape {}, which has no elements", axis, shape_.to_string()));
  std::int64_t inner = 1;
  for (std::int32_t a = along + 1; a < shape_.rank(); ++a) inner *= shape_[a];
  Tensor result(shape_.without(along), DType::kInt32);
  const std::span<std::int32_t> places = result.as<std::int32_t>();
  visit(dtype_, data(), [&](const auto* values) {
    for (std::int64_t r = 0; r < result.elements(); ++r) {
      const auto* const line = values + r / inner * size * inner + r % inner;
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < size; ++i)
        if (exceeds(line[i * inner], line[best * inner])) best = i;
      places[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(best);
    }
  });
  return result;
}

Tensor Tensor::to(DType dtype) const {
  Tensor result = unset(shape_, dtype);
  visit(dtype_, data(), [&](const auto* from) {
    visit(dtype, result.data(), [&](auto* to) {
      std::transform(from, from + elements(), to,
                     [](auto v) { return static_cast<std::remove_reference_t<decltype(*to)>>(v); });
    });
  });
  return result;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.elements() != elements())
    throw UsageError(fmt::format("tensor: {} cannot be reshaped to {}: {} and {} elements", shape_.to_string(),
                                 shape.to_string(), elements(), shape.elements()));
  Tensor result = *this;
  result.shape_ = shape;
  return result;
}

std::string Tensor::to_string() const {
  constexpr std::int64_t kShown = 8;
  std::string text = fmt::format("{}{}{{", name_of(dtype_), shape_.to_string());
  for (std::int64_t i = 0; i < std::min(elements(), kShown); ++i)
    text += fmt::format("{}{:.6g}", i == 0 ? "" : ", ", at(i));
  return text + (elements() > kShown ? ", ...}" : "}");
}

bool Tensor::operator==(const Tensor& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ && std::memcmp(data_.get(), other.data_.get(), bytes()) == 0;
}

template ESPALIER_EXPORT Tensor Tensor::from<float>(const Shape&, std::span<const float>);
template ESPALIER_EXPORT Tensor Tensor::from<double>(const Shape&, std::span<const double>);
template ESPALIER_EXPORT Tensor Tensor::from<std::int32_t>(const Shape&, std::span<const std::int32_t>);
template ESPALIER_EXPORT std::span<const float> Tensor::as<float>() const;
template ESPALIER_EXPORT std::span<const double> Tensor::as<double>() const;
template ESPALIER_EXPORT std::span<const std::int32_t> Tensor::as<std::int32_t>() const;
template ESPALIER_EXPORT std::span<float> Tensor::as<float>();
template ESPALIER_EXPORT std::span<double> Tensor::as<double>();
template ESPALIER_EXPORT std::span<std::int32_t> Tensor::as<std::int32_t>();

}  // namespace espalier
