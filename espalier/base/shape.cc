#include "espalier/base/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier {
namespace {

/// Refused where it is no size.
std::int32_t checked_size(std::int64_t size) { return Shape{size}[0]; }

}  // namespace

void Shape::refuse_rank(std::size_t rank) {
  throw UsageError(fmt::format("shape: {} axes given, at most {} are possible", rank, kMaxRank));
}
void Shape::refuse_size(std::int64_t size) {
  throw UsageError(fmt::format("shape: the size of an axis must be 0 to {}, not {}", kLargest, size));
}
void Shape::refuse_axis(std::int32_t axis) const {
  throw UsageError(fmt::format("shape: axis {} is outside {} (rank {})", axis, to_string(), rank_));
}

void Shape::require_countable() const {
  // Of all axes but the empty ones: elements() multiplies them in turn.
  double count = 1;
  for (std::int32_t axis = 0; axis < rank_; ++axis) count *= std::max((*this)[axis], 1);
  if (count > static_cast<double>(kMostElements))
    throw ResourceError(fmt::format("shape: {} has {:.4g} elements, and the most there can be is {}", to_string(),
                                    count, kMostElements));
}

Shape Shape::with(std::int32_t axis, std::int64_t size) const {
  static_cast<void>((*this)[axis]);  // refuses one that it does not have
  Shape result = *this;
  result.dims_[static_cast<std::size_t>(axis)] = checked_size(size);
  result.require_countable();
  return result;
}

Shape Shape::without(std::int32_t axis) const {
  static_cast<void>((*this)[axis]);  // refuses one that it does not have
  Shape result;
  for (std::int32_t i = 0; i < rank_; ++i)
    if (i != axis) result.dims_[static_cast<std::size_t>(result.rank_++)] = (*this)[i];
  return result;
}

Shape Shape::inserted(std::int32_t axis, std::int64_t size) const {
  if (rank_ == kMaxRank) throw UsageError(fmt::format("shape: {} has no room for another axis", to_string()));
  if (axis < 0 || axis > rank_)
    throw UsageError(fmt::format("shape: axis {} cannot be inserted into {}", axis, to_string()));
  Shape result;
  for (std::int32_t i = 0; i <= rank_; ++i) {
    if (i == axis) result.dims_[static_cast<std::size_t>(result.rank_++)] = checked_size(size);
    if (i < rank_) result.dims_[static_cast<std::size_t>(result.rank_++)] = (*this)[i];
  }
  result.require_countable();
  return result;
}

std::string Shape::to_string() const {
  return fmt::format("[{}]", fmt::join(dims_.begin(), dims_.begin() + rank_, ", "));
}

}  // namespace espalier
