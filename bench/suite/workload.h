/// A workload of the benchmark: a data set and a network that can run in several variants.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/graph/statistics.h"

namespace espalier::bench {

enum class Variant : std::int32_t {
  kLimit,        // written by hand, without a graph
  kLimitDedupe,  // the same, equal leaves computed once
  kCells,        // Espalier as users write it, with the layers of nn
  kRecursion,    // Espalier with the structure as data: one node per instance and layer
  kPlain,        // Espalier with every cell recorded op by op
  kUnbatched,    // Espalier, one node per step
};

/// Whether equal leaves are computed once or each for itself.
enum class Leaves : std::int32_t { kOnce, kEach };

/// The learning rate is this divided by the batch size: small, so that weights hardly change over hundreds of steps.
inline constexpr double kLearningRate = 1e-5;

/// The result of one minibatch.
struct BatchResult {
  double loss = 0;        // summed loss (training) or sum of all outputs (inference), to compare variants
  Statistics statistics;  // the limit fills only `seconds`, and only if it is profiled
};

/// One variant with its own weights. All runners of a workload start from the same weights.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Forward, backward and an update by plain SGD. `batch` lists instances by number.
  virtual BatchResult train(std::span<const std::int32_t> batch) = 0;
  /// Forward only.
  virtual BatchResult infer(std::span<const std::int32_t> batch) = 0;
  /// Forward and backward: the dense gradient of every parameter, in the same order for all variants. Slow; for tests
  /// that compare variants.
  struct Gradient {
    std::string name;
    std::vector<float> values;
  };
  virtual std::vector<Gradient> gradients(std::span<const std::int32_t> batch) = 0;
  /// Whether results include a breakdown of the time (Statistics::Seconds). Off at first.
  virtual void set_profiling(bool on) = 0;
};

class Workload {
 public:
  virtual ~Workload() = default;
  /// As in "B1".
  virtual std::string_view name() const = 0;
  /// As in "binary Tree-LSTM on sentiment trees".
  virtual std::string_view title() const = 0;
  /// As in "300/150".
  virtual std::string sizes() const = 0;
  virtual bool is_real_data() const = 0;
  virtual std::int32_t instances() const = 0;
  /// Nodes of an instance (of trees, words, atoms), for costs per node.
  virtual std::int32_t nodes(std::int32_t instance) const = 0;
  virtual bool has_limit() const = 0;
  /// Null if the workload has no such variant.
  virtual std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const = 0;
};

}  // namespace espalier::bench
