#include "espalier/train/lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier::train {
namespace {

std::int64_t parts_of(std::int64_t instances, std::int64_t least) {
  if (least < 1) throw UsageError(fmt::format("lanes: a part must have 1 instance or more, not {}", least));
  return std::min(instances, std::clamp<std::int64_t>(instances / least, 1, thread_count()));
}

}  // namespace

Lanes::Lanes(const GraphOptions& options) : options_(options) {}
Lanes::~Lanes() = default;

void Lanes::open(std::int64_t count, std::int64_t least) {
  const std::int64_t parts = parts_of(count, least);
  begin_.clear();
  for (std::int64_t part = 0; part <= parts; ++part) begin_.push_back(parts == 0 ? 0 : count * part / parts);
  use(static_cast<std::size_t>(parts));
}

void Lanes::open(std::span<const std::int64_t> sizes, std::int64_t least) {
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw UsageError(fmt::format("lanes: a size is expected, and {} is given", size));
    total += size;
  }
  if (total == 0) return open(std::ssize(sizes), least);
  // A part ends where it comes closest to its share, and has one instance at least.
  const std::int64_t parts = parts_of(std::ssize(sizes), least);
  begin_.assign(1, 0);
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    const std::int64_t size = sizes[static_cast<std::size_t>(i)];
    const std::int64_t ended = std::ssize(begin_);  // parts that would have ended here
    const bool is_share = parts * (2 * before + size) >= 2 * total * ended;
    if (i > begin_.back() && ended < parts && (is_share || std::ssize(sizes) - i <= parts - ended)) begin_.push_back(i);
    before += size;
  }
  begin_.push_back(std::ssize(sizes));
  use(begin_.size() - 1);
}

void Lanes::prepare(Lane& lane, std::int64_t begin) const {
  lane.graph.clear();
  lane.gradients.clear();
  lane.graph.set_first_key(static_cast<std::uint64_t>(begin));
  if (options_.training) lane.graph.set_step(step_);
}

void Lanes::use(std::size_t parts) {
  if (options_.training && parts > 0) step_ = options_.take_step();
  while (lanes_.size() < parts) lanes_.push_back(std::make_unique<Lane>(options_));
  used_.clear();
  of_parts_.clear();
  for (std::size_t i = 0; i < parts; ++i) {
    used_.push_back(lanes_[i].get());
    of_parts_.push_back(&lanes_[i]->gradients);
  }
}

Gradients& Lanes::gradients() {
  if (used_.empty()) throw UsageError("lanes: gradients are asked for, and nothing was run");
  for (std::size_t i = 1; i < of_parts_.size(); ++i) of_parts_[0]->add(*of_parts_[i]);
  of_parts_.resize(1);
  return *of_parts_[0];
}

Statistics Lanes::statistics() const {
  Statistics all;
  std::int64_t peak = 0;
  std::int64_t of_nodes = 0;
  for (const Lane* lane : used_) {
    const Statistics statistics = lane->graph.statistics();
    all.add(statistics);
    peak += statistics.peak_bytes;
    of_nodes += statistics.node_bytes;
  }
  all.peak_bytes = peak;  // they run at once
  all.node_bytes = of_nodes;
  if (!used_.empty()) all.seconds = used_[0]->graph.statistics().seconds;
  return all;
}

}  // namespace espalier::train
