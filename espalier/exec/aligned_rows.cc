#include "espalier/exec/aligned_rows.h"

#include <algorithm>

namespace espalier::exec {

AlignedRows::Extent AlignedRows::extent_of(const ConstRows& rows) {
  if (rows.offsets == nullptr) return {rows.data, rows.data + (rows.count - 1) * rows.stride + rows.width};
  const auto [low, high] = std::minmax_element(rows.offsets, rows.offsets + rows.count);
  return {rows.data + *low, rows.data + *high + rows.width};
}

bool AlignedRows::are_aligned(const ConstRows& a, const ConstRows& b) {
  const float* const first = std::min(a.data, b.data);
  const float* const last = std::max(a.data + a.width, b.data + b.width);
  if (a.offsets == nullptr && b.offsets == nullptr) return a.stride == b.stride && last - first <= a.stride;
  if (a.offsets == nullptr || b.offsets == nullptr) return false;
  // Rows of one of them do not overlap each other; those of the other lie within.
  return last - first <= std::max(a.width, b.width) && std::equal(a.offsets, a.offsets + a.count, b.offsets);
}

bool AlignedRows::fit(const ConstRows& rows) const {
  if (rows.shared()) return true;
  const Extent extent = extent_of(rows);
  return std::all_of(all_.begin(), all_.end(),
                     [&](const Entry& each) { return !each.extent.meets(extent) || are_aligned(each.rows, rows); });
}

}  // namespace espalier::exec
