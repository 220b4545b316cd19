/// LongCurve: a curve of any number of points in bounded memory. Internal.
#pragma once

#include <cstddef>
#include <vector>

#include "espalier/report/svg.h"

namespace espalier::train {

/// Keeps means of equally many neighbours: between 2000 and 4000 of them once there are that many points.
class LongCurve {
 public:
  void add(report::Point point) {
    open_.x += point.x;
    open_.y += point.y;
    if (++in_open_ < per_mean_) return;
    means_.push_back({open_.x / static_cast<double>(per_mean_), open_.y / static_cast<double>(per_mean_)});
    open_ = {};
    in_open_ = 0;
    if (means_.size() == kMost) halve();
  }
  const std::vector<report::Point>& points() const { return means_; }

 private:
  static constexpr std::size_t kMost = 4000;

  void halve() {
    for (std::size_t i = 0; i < kMost / 2; ++i)
      means_[i] = {(means_[2 * i].x + means_[2 * i + 1].x) / 2, (means_[2 * i].y + means_[2 * i + 1].y) / 2};
    means_.resize(kMost / 2);
    per_mean_ *= 2;
  }

  std::vector<report::Point> means_;
  report::Point open_;
  std::size_t in_open_ = 0;
  std::size_t per_mean_ = 1;
};

}  // namespace espalier::train
