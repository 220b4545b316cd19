#include "espalier/plan/pieces.h"

#include <algorithm>

namespace espalier::plan {

void Placement::start(std::size_t pieces) {
  parts_.room(pieces);
  leases_.room(pieces);
  parts_used_ = leases_used_ = 0;
  lease_of_group_.clear();
}

inline void Placement::add(std::int64_t bytes, std::int32_t group, std::int32_t first, std::int32_t last) {
  const auto fresh = static_cast<std::int32_t>(leases_used_);
  std::int32_t lease = fresh;
  if (group != Piece::kNoGroup) {
    const auto g = static_cast<std::size_t>(group);
    if (g >= lease_of_group_.size()) lease_of_group_.resize(g + 1, -1);
    if (lease_of_group_[g] < 0) lease_of_group_[g] = fresh;
    lease = lease_of_group_[g];
  }
  Part& part = parts_.data()[parts_used_++];
  if (lease == fresh) {
    part = {0, fresh};
    leases_.data()[leases_used_++] = {.bytes = bytes, .first = first, .last = last};
    return;
  }
  Lease& joined = leases_.data()[lease];
  part = {joined.bytes, lease};
  joined.bytes += bytes;
  joined.first = std::min(joined.first, first);
  joined.last = std::max(joined.last, last);
}

std::vector<std::int64_t> Placement::places() const {
  std::vector<std::int64_t> at(parts_used_);
  for (std::size_t i = 0; i < parts_used_; ++i) {
    const Part part = parts_.data()[i];
    at[i] = leases_.data()[part.lease].at + part.offset;
  }
  return at;
}

Layout Placement::place_values(std::span<const Piece> pieces, std::span<const Piece> saved) {
  start(pieces.size() + saved.size());
  for (const Piece& piece : pieces) add(piece.bytes, piece.value_group, piece.first, piece.last);
  for (const Piece& piece : saved) add(piece.bytes, piece.value_group, piece.first, piece.last);
  Layout layout;
  layout.bytes = place(leases());
  layout.at = places();
  return layout;
}

void Placement::place_gradients(std::span<const Piece> pieces, std::span<const Piece> deferred, Plan& plan) {
  const std::int32_t steps = plan.steps();
  start(pieces.size() + deferred.size());
  // Backward goes through the steps from the last to the first.
  for (const std::span<const Piece> list : {pieces, deferred})
    for (const Piece& piece : list)
      add(piece.bytes, piece.gradient_group, steps - piece.last_gradient, steps - piece.first_gradient);
  plan.gradients.bytes = place(leases());
  plan.gradients.at = places();
  plan.all_gradients.bytes = place_apart(leases());
  plan.all_gradients.at = places();
}

}  // namespace espalier::plan
