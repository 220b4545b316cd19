/// Graph: records operations, and computes nothing until you ask for a value.
///
/// Order of calls: make leaves on the graph (input, parameter, lookup), combine them with the functions of ops/, call
/// begin_instance() before each new input, then call value() or backward() on an Expr. You can go on recording
/// afterwards.
///
/// The part of a graph that ops, cells and executors use is its base class (graph/recorder.h).
///
/// Thread safety: one thread at a time; several graphs, in any threads, may share one Model that is not being changed.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph_options.h"
#include "espalier/graph/parameter.h"
#include "espalier/graph/recorder.h"
#include "espalier/graph/statistics.h"
#include "espalier/tensor/tensor.h"

namespace espalier {

class ESPALIER_EXPORT Graph : public Recorder {
 public:
  explicit Graph(const GraphOptions& options = {});
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// A leaf with the numbers of `tensor`, which are copied. Refuses int32.
  Expr input(const Tensor& tensor, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
  /// A leaf with the graph's element type.
  Expr input(const Shape& shape, std::span<const float> values, const char* file = __builtin_FILE(),
             std::int32_t line = __builtin_LINE());
  /// The same from a list, as in input({2}, {x, y}).
  Expr input(const Shape& shape, std::initializer_list<float> values, const char* file = __builtin_FILE(),
             std::int32_t line = __builtin_LINE()) {
    return input(shape, std::span<const float>(values.begin(), values.size()), file, line);
  }
  template <class Number>
  requires std::is_arithmetic_v<Number> Expr input(const Shape& shape, std::initializer_list<Number> values,
                                                   const char* file = __builtin_FILE(),
                                                   std::int32_t line = __builtin_LINE()) {
    const std::vector<double> numbers(values.begin(), values.end());
    return input(Tensor::from(shape, numbers).to(options_.dtype), file, line);
  }
  /// A leaf with one or more rows of this shape, one after the other in `values`. It is a single node, and ops on it
  /// run once per row.
  Expr rows(const Shape& row, std::span<const float> values, const char* file = __builtin_FILE(),
            std::int32_t line = __builtin_LINE());
  /// The same for rows anywhere in memory, each given by its address.
  Expr rows(const Shape& row, std::span<const float* const> rows, const char* file = __builtin_FILE(),
            std::int32_t line = __builtin_LINE());
  /// A leaf with one number, of rank 0.
  template <class Number>
  requires std::is_arithmetic_v<Number> Expr constant(Number value, const char* file = __builtin_FILE(),
                                                      std::int32_t line = __builtin_LINE()) {
    return constant(Shape{}, static_cast<double>(value), file, line);
  }
  /// A leaf whose elements are all `value`.
  Expr constant(const Shape& shape, double value, const char* file = __builtin_FILE(),
                std::int32_t line = __builtin_LINE()) {
    return constant(shape, value, options_.dtype, file, line);
  }
  Expr constant(const Shape& shape, double value, DType dtype, const char* file = __builtin_FILE(),
                std::int32_t line = __builtin_LINE());
  /// The node of a parameter: always the same one within a graph. The parameter must outlive the graph's use.
  Expr parameter(const Parameter& parameter) { return record_parameter(parameter); }
  /// Computes recorded nodes with the present numbers of the parameters, instead of refusing those that changed since
  /// they were recorded. For a graph that is recorded during an update (train/ahead.h). Refuses (UsageError) a graph in
  /// which anything was computed already.
  void use_current_parameters();
  /// A node that `make` records from parameters only, such as normalised weights: one node per graph and uid
  /// (new_uid()), so that all its uses can run together. Refuses nodes that depend on anything else.
  Expr derived(std::uint64_t uid, const std::function<Expr(Graph&)>& make);

  /// Begins a new instance: nodes recorded from here on belong to it. The key selects its dropout masks. Pass the
  /// number of the input in the data set to make masks independent of the order. The default is the number of the
  /// instance in its minibatch, which Lanes count across all lanes.
  void begin_instance();
  void begin_instance(std::uint64_t key);
  /// The first of the default keys, if this graph is only a part of a minibatch. Call it before the first instance;
  /// clear() resets it to 0.
  void set_first_key(std::uint64_t key);

  /// The step of this minibatch, which selects the dropout masks (GraphOptions::step).
  std::uint64_t step();
  /// Sets it until clear(). Refuses (UsageError) if the graph has recorded a random op since it was made or cleared.
  void set_step(std::uint64_t step);

  /// Computes these together, as one run, unless they were computed before: their value() then only copies. Values that
  /// you ask for one by one run one by one.
  void compute(std::span<const Expr> exprs);
  void compute(std::initializer_list<Expr> exprs) { compute({exprs.begin(), exprs.size()}); }
  /// Computes these outputs for inference: the memory of every other value is reused as soon as possible, and nothing
  /// can be differentiated. If you ask for the value of another node afterwards, it is computed again.
  void finish(std::span<const Expr> outputs);
  void finish(std::initializer_list<Expr> outputs) { finish({outputs.begin(), outputs.size()}); }
  /// Keeps the value of this node, which finish() and backward() would otherwise free.
  void keep(const Expr& expr);

  /// Removes all nodes and values, and makes every earlier Expr stale. Signatures are kept, so that recording similar
  /// inputs again is faster than in a new graph.
  void clear();

  /// The steps of all runs so far: which nodes ran together, which did not, and why.
  std::string explain() const;
  /// The nodes, one per line.
  std::string list_nodes() const;
  /// Counts and times of the runs since the graph was made or cleared.
  Statistics statistics() const;

  using Recorder::instances;
  using Recorder::options;
  using Recorder::rows;  // how many a node has
};

/// The graph of the first operand that has one. Refuses stale operands, and parameters alone.
ESPALIER_EXPORT Graph& find_graph(const OpInfo& info, std::span<const Operand> operands);
inline Graph& graph_of(const OpInfo& info, std::span<const Operand> operands) {
  // A slot may by now be that of another thread's graph: only an equal generation says that the graph is ours.
  const Expr& first = operands[0].expr();
  if (first.slot() != nullptr && first.slot()->generation.load(std::memory_order_acquire) == first.generation())
      [[likely]]
    return *first.slot()->graph.load(std::memory_order_acquire);
  return find_graph(info, operands);
}
ESPALIER_EXPORT Graph& graph_of(const OpInfo& info, const Operands& operands);

}  // namespace espalier
