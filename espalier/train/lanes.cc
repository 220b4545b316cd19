#include "espalier/train/lanes.h"

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier::train {

Lanes::Lanes(const GraphOptions& options) : options_(options) {}
Lanes::~Lanes() = default;

void Lanes::open(std::int64_t count) {
  const auto parts = static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, thread_count()));
  while (lanes_.size() < parts) lanes_.push_back(std::make_unique<Lane>(options_));
  used_.clear();
  for (std::size_t i = 0; i < parts; ++i) used_.push_back(lanes_[i].get());
  summed_ = false;
}

Gradients& Lanes::gradients() {
  if (used_.empty()) throw UsageError("lanes: gradients are asked for, and nothing was run");
  for (std::size_t i = 1; i < used_.size() && !summed_; ++i) used_[0]->gradients.add(used_[i]->gradients);
  summed_ = true;
  return used_[0]->gradients;
}

Statistics Lanes::statistics() const {
  Statistics all;
  std::int64_t peak = 0;
  for (const Lane* lane : used_) {
    all.add(lane->graph.statistics());
    peak += lane->graph.statistics().peak_bytes;
  }
  all.peak_bytes = peak;  // they run at once
  if (!used_.empty()) all.seconds = used_[0]->graph.statistics().seconds;
  return all;
}

}  // namespace espalier::train
