/// What the benchmark measures: a workload is a data set and a network, which can be run in several variants.
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
  kCells,        // Espalier, as its layers are
  kRecursion,    // Espalier, with the structure as data: one node an instance and layer
  kPlain,        // Espalier, every cell recorded op by op
  kUnbatched,    // Espalier, one node a step
};

/// Whether equal leaves are computed once by the variants of Espalier.
enum class Leaves : std::int32_t { kOnce, kEach };

/// A step of training moves the weights by this, divided by the number of instances, times the gradient: little enough
/// for numbers to stay tame over hundreds of steps.
inline constexpr double kLearningRate = 1e-5;

/// What one minibatch gave.
struct BatchResult {
  double loss = 0;        // sum over the instances (training), or a sum of all outputs (inference): to compare variants
  Statistics statistics;  // of Espalier's variants; of the limit, seconds only, and only where it is profiled
};

/// One variant with weights of its own. All runners of one workload start from the same weights.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Forward, backward and an update of the weights by plain SGD. `batch` are numbers of instances.
  virtual BatchResult train(std::span<const std::int32_t> batch) = 0;
  /// Forward only; the weights stay.
  virtual BatchResult infer(std::span<const std::int32_t> batch) = 0;
  /// Forward and backward: the gradient of every parameter, by its name, in one order for all variants; of a table, as
  /// a whole. For tests that compare variants; slow.
  struct Gradient {
    std::string name;
    std::vector<float> values;
  };
  virtual std::vector<Gradient> gradients(std::span<const std::int32_t> batch) = 0;
  /// Whether results tell from here on where the time went (Statistics::Seconds); at first they do not.
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
  /// Nodes (of trees, words, atoms) of an instance, for costs a node.
  virtual std::int32_t nodes(std::int32_t instance) const = 0;
  virtual bool has_limit() const = 0;
  /// Null for a limit or a recursion that there is not.
  virtual std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const = 0;
};

}  // namespace espalier::bench
