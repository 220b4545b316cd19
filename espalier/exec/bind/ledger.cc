#include "espalier/exec/bind/ledger.h"

#include <cstring>

namespace espalier::exec {

void Ledger::start() {
  step_ = kBefore;
  repeated_ = false;
  overlapping_ = false;
  accounts_.assign(static_cast<std::size_t>(graph_.size()), {nullptr, 0, 0, 1, 0});
  if (!table_.regions.empty()) find_regions();
}

void Ledger::find_regions() {
  const NodeTable& table = table_;
  for (std::vector<NodeId>* list : {&first_region_, &next_region_, &last_region_})
    list->assign(accounts_.size(), kNoNode);
  for (NodeId region : table.regions) {
    const NodeId base = table.base[at(region)];
    accounts_[at(region)].is_simple = accounts_[at(base)].is_simple = 0;
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
    accounts_[at(base)].is_joined = end != bytes(base) ? 1 : 0;
  }
}

void Ledger::open_regions(NodeId base, bool empty) {
  for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)]) {
    accounts_[at(region)].where = accounts_[at(base)].where + table_.offset[at(region)];
    if (!empty) written(region) = kBefore;
  }
}

void Ledger::zero(NodeId node) {
  if (const std::int64_t size = bytes(node); size > 0) std::memset(where(node), 0, static_cast<std::size_t>(size));
}

bool Ledger::claim_with_regions(NodeId node) {
  const NodeId base = table_.base[at(node)];
  if (is_joined(base)) {
    if (claim_one(base)) {
      if (base == node) return true;
      zero(base);
    }
    return false;
  }
  if (base != node) return claim_one(node);

  if (!is_written(base)) {
    for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)]) {
      accounts_[at(region)].written = step_;
      accounts_[at(region)].claim(step_);
    }
    return true;
  }
  for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)])
    if (claim_one(region)) zero(region);
  return false;
}

void Ledger::complete_rest(NodeId node) {
  const NodeId base = table_.base[at(node)];
  if (base == node && has_regions(base) && !is_joined(base)) {
    for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)])
      if (claim_one(region)) zero(region);
    return;
  }
  if (claim(node)) zero(node);
}

bool Ledger::is_written(NodeId node) const {
  const NodeId base = table_.base[at(node)];
  if (!has_regions(base) || is_joined(base)) return written(base) != 0;
  if (base != node) return written(node) != 0;
  for (NodeId region = first_region_[at(base)]; region != kNoNode; region = next_region_[at(region)])
    if (written(region) != 0) return true;
  return false;
}

}  // namespace espalier::exec
