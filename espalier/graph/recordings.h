/// Recordings: instances that were recorded once, and are kept, so that the next graph that needs one gets its nodes
/// without calling the function that records it.
///
///   esp::Recordings recordings;
///   for (int epoch = 0; epoch < 10; ++epoch)
///     for (const auto& batch : batches(order, 32)) {
///       g.clear();
///       std::vector<Expr> losses;
///       for (std::size_t i : batch) {
///         g.begin_instance(i);
///         losses.push_back(recordings.record(g, i, [&] { return net.loss(g, data[i]); }));
///       }
///       sum(losses).backward();
///       ...
///
/// The nodes are those that the function would record, down to the source lines and to the masks of dropout, which are
/// those of the graph's step and instance; numbers of parameters are those of the moment. So results are the same, bit
/// for bit, and minibatches may be put together anew in every epoch.
///
/// The function must record the same nodes and input data whenever it is called for a key. It may use parameters, what
/// is derived from them (Graph::derived()), and nodes of its own; using a node of another instance, or one that was
/// recorded before the function was called, is refused (UsageError), and so is drawing random numbers that are in no
/// node (as nn::FractalNet does, or a cell with a dropout that no result depends on). Other graph options that decide
/// what is recorded (training, dtype, execution, expand_cells) are other recordings.
///
/// Thread safety: any number of threads at a time, each with a graph of its own; no two may record the same key at a
/// time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"

namespace espalier {

class ESPALIER_EXPORT Recordings {
 public:
  Recordings();
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;

  /// Appends to `graph` what `make` records for the instance with this key, and to `outputs` what `make` appends there.
  /// Calls `make` the first time only, and where a parameter has another shape than then.
  void record(Graph& graph, std::uint64_t key, const std::function<void(std::vector<Expr>& outputs)>& make,
              std::vector<Expr>& outputs);
  /// The same for one Expr.
  Expr record(Graph& graph, std::uint64_t key, const std::function<Expr()>& make) {
    std::vector<Expr> outputs;
    record(
        graph, key, [&](std::vector<Expr>& to) { to.push_back(make()); }, outputs);
    return outputs[0];
  }

  /// How many are kept.
  std::int64_t size() const;
  /// What they take, in bytes.
  std::int64_t memory() const;
  /// Forgets all. Graphs that have nodes of them go on.
  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace espalier
