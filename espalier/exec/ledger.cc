#include "espalier/exec/ledger.h"

#include <cstring>

namespace espalier::exec {

void Ledger::start() {
  const NodeTable& table = table_;
  const auto n = static_cast<std::size_t>(graph_.size());
  step_ = kBefore;
  repeated_ = false;
  overlapping_ = false;
  where_.assign(n, nullptr);
  written_.assign(n, 0);
  claimed_.assign(n, 0);
  joined_.assign(n, 0);
  first_region_.assign(n, kNoNode);
  next_region_.assign(n, kNoNode);
  if (table.regions.empty()) return;
  last_region_.assign(n, kNoNode);
  for (NodeId region : table.regions) {
    const NodeId base = table.base[at(region)];
    const std::int64_t offset = table.offset[at(region)];
    NodeId& last = last_region_[at(base)];
    if (last == kNoNode) {
      first_region_[at(base)] = last = region;
    } else if (table.offset[at(last)] <= offset) {  // as good as always: they are recorded in this order
      next_region_[at(last)] = region;
      last = region;
    } else {
      NodeId* to = &first_region_[at(base)];
      while (table.offset[at(*to)] <= offset) to = &next_region_[at(*to)];
      next_region_[at(region)] = *to;
      *to = region;
    }
  }
  for (NodeId region : table.regions) {
    const NodeId base = table.base[at(region)];
    if (first_region_[at(base)] != region) continue;  // once a base
    std::int64_t end = 0;
    for (NodeId next = region; next != kNoNode; next = next_region_[at(next)]) {
      if (table.offset[at(next)] != end) {
        end = -1;
        break;
      }
      end += bytes(next);
    }
    joined_[at(base)] = end == bytes(base) ? 0 : 1;
  }
}

void Ledger::zero(NodeId node) {
  if (const std::int64_t size = bytes(node); size > 0) std::memset(where(node), 0, static_cast<std::size_t>(size));
}

bool Ledger::claim(NodeId node) {
  const NodeId base = table_.base[at(node)];
  if (!has_regions(base)) return claim_one(base);
  if (joined_[at(base)] != 0) {
    if (claim_one(base)) {
      if (base == node) return true;
      zero(base);
    }
    return false;
  }
  if (base != node) return claim_one(node);

  if (!is_written(base)) {
    for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)])
      written_[at(region)] = claimed_[at(region)] = step_;
    return true;
  }
  for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)])
    if (claim_one(region)) zero(region);
  return false;
}

void Ledger::complete(NodeId node) {
  const NodeId base = table_.base[at(node)];
  if (base == node && has_regions(base) && joined_[at(base)] == 0) {
    for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)])
      if (claim_one(region)) zero(region);
    return;
  }
  if (claim(node)) zero(node);
}

bool Ledger::is_written(NodeId node) const {
  const NodeId base = table_.base[at(node)];
  if (!has_regions(base) || joined_[at(base)] != 0) return written_[at(base)] != 0;
  if (base != node) return written_[at(node)] != 0;
  for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)])
    if (written_[at(region)] != 0) return true;
  return false;
}

}  // namespace espalier::exec
