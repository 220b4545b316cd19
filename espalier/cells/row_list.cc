#include "espalier/cells/row_list.h"

#include "espalier/base/at.h"

namespace espalier::cells {

std::int32_t* RowList::open(std::size_t count) {
  numbers_.resize(count);
  missing_.clear();
  for (Scaled& scaled : scaled_) scaled.stride = kNone;
  return numbers_.data();
}

void RowList::close() {
  const auto count = static_cast<std::int32_t>(numbers_.size());
  distance_ = count > 1 ? numbers_[1] - numbers_[0] : 1;
  bool is_even = distance_ > 0;
  bool any_missing = false;
  for (std::int32_t i = 0; i < count; ++i) {
    is_even = is_even && numbers_[at(i)] == numbers_[0] + i * distance_;
    any_missing |= numbers_[at(i)] == kMissing;
  }
  is_even_ = is_even && !any_missing;
  for (std::int32_t i = 0; i < count && any_missing; ++i)
    if (numbers_[at(i)] == kMissing) missing_.push_back(i);
}

const std::int64_t* RowList::offsets(std::int64_t stride) {
  Scaled* to = nullptr;
  for (Scaled& scaled : scaled_) {
    if (scaled.stride == stride) return scaled.offsets.data();
    if (scaled.stride == kNone) to = &scaled;
  }
  if (to == nullptr) to = &scaled_.emplace_back();
  to->stride = stride;
  to->offsets.resize(numbers_.size());
  for (std::size_t i = 0; i < numbers_.size(); ++i) to->offsets[i] = numbers_[i] == kMissing ? 0 : numbers_[i] * stride;
  return to->offsets.data();
}

}  // namespace espalier::cells
