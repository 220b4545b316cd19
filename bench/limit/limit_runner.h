/// LimitRunner: what the programs written by hand have in common: their weights, the order of a training step, and
/// threads.
///
/// A minibatch is divided into lanes, one a thread, wherever work can be divided; a lane has a Watch of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/limit/watch.h"
#include "bench/limit/weights.h"
#include "bench/suite/workload.h"
#include "espalier/base/threads.h"
#include "espalier/nn/model.h"

namespace espalier::bench {

class LimitRunner : public Runner {
 public:
  BatchResult train(std::span<const std::int32_t> batch) final;
  BatchResult infer(std::span<const std::int32_t> batch) final;
  std::vector<Gradient> gradients(std::span<const std::int32_t> batch) final;
  void set_profiling(bool on) final { set_watches(on, /*keep_products=*/false); }

  void set_watches(bool on, bool keep_products);
  /// One a lane.
  std::span<const Watch> watches() const { return watches_; }

 protected:
  /// The weights are those of the model now.
  explicit LimitRunner(const Model& model);

  /// Forward and backward: adds `scale` times the gradients where gradients go (Weights). Gives the loss, not scaled.
  virtual double differentiate(std::span<const std::int32_t> batch, float scale) = 0;
  /// Gives the sum of all outputs.
  virtual double evaluate(std::span<const std::int32_t> batch) = 0;

  /// Calls fn(lane, watch) for every lane, each in a thread; the time of this call is the lanes' own.
  template <class F>
  void for_lanes(const F& fn) {
    parallel_for(lanes(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t lane = begin; lane < end; ++lane) {
        Watch& watch = watches_[static_cast<std::size_t>(lane)];
        if (lane > 0) watch.start();
        fn(lane, watch);
      }
    });
    watch().start();
  }
  /// The same for rows [0, rows), divided evenly: calls fn(lane, watch, begin, end).
  template <class F>
  void for_rows(std::int64_t rows, const F& fn) {
    for_lanes(
        [&](std::int64_t lane, Watch& watch) { fn(lane, watch, rows * lane / lanes(), rows * (lane + 1) / lanes()); });
  }

  std::int64_t lanes() const { return static_cast<std::int64_t>(watches_.size()); }
  /// Of the calling thread, outside lanes.
  Watch& watch() { return watches_.front(); }

  Weights weights_;

 private:
  void begin();
  Statistics statistics() const;

  std::vector<Watch> watches_;
  bool on_ = false;
  bool keep_products_ = false;
};

}  // namespace espalier::bench
