/// Graph: records operations and computes nothing until a value is asked for.
///
/// Order of calls: make leaves on the graph (input, parameter, lookup), combine them with the functions of ops/, mark
/// where each input's part begins with begin_instance(), then ask an Expr for value() or backward(). Recording may go
/// on afterwards.
///
/// What ops, cells and executors need of a graph is in its base, graph/recorder.h.
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
  /// A leaf of the graph's element type.
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
  /// A leaf with many rows of this shape, one after the other in `values`; at least one. Every op runs once per row,
  /// and it is one node however many rows it has.
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
  /// A leaf with the same number everywhere.
  Expr constant(const Shape& shape, double value, const char* file = __builtin_FILE(),
                std::int32_t line = __builtin_LINE()) {
    return constant(shape, value, options_.dtype, file, line);
  }
  Expr constant(const Shape& shape, double value, DType dtype, const char* file = __builtin_FILE(),
                std::int32_t line = __builtin_LINE());
  /// The node of a parameter: one a graph, whoever asks. The parameter must outlive the graph's use.
  Expr parameter(const Parameter& parameter) { return record_parameter(parameter); }
  /// What was recorded is computed with the numbers that parameters have now, not with those they had when they were
  /// recorded: for a graph that is recorded while an update is under way (train/ahead.h). Refuses (UsageError) a graph
  /// in which anything was computed already.
  void use_current_parameters();
  /// What `make` records from parameters alone, such as weights that are normalised: one node a graph and uid
  /// (new_uid()), whoever asks. All uses of it can then run together. Refuses what is not made from parameters alone.
  Expr derived(std::uint64_t uid, const std::function<Expr(Graph&)>& make);

  /// What is recorded from here on belongs to a new instance. Its key chooses the masks of dropout: give the number of
  /// the input in the data set to make them independent of the order. The default is the number of the instance in its
  /// minibatch, which Lanes count across all lanes.
  void begin_instance();
  void begin_instance(std::uint64_t key);
  /// The keys that begin_instance() gives count from here on, if the graph is a part of a minibatch. Call it before the
  /// first instance; clear() sets it to 0.
  void set_first_key(std::uint64_t key);

  /// The step of this minibatch, which chooses the masks of dropout (GraphOptions::step).
  std::uint64_t step();
  /// Sets it until clear(). Refuses (UsageError) if the graph has recorded a random op since it was made or cleared.
  void set_step(std::uint64_t step);

  /// Computes these together, as one run, unless they were computed before: their value() only copies then. Values that
  /// are asked for one by one run one by one.
  void compute(std::span<const Expr> exprs);
  void compute(std::initializer_list<Expr> exprs) { compute({exprs.begin(), exprs.size()}); }
  /// Computes these as the last run of a graph that is not to be differentiated: the memory of everything else is used
  /// again as soon as nobody needs it. Asking for the value of another node afterwards computes that anew.
  void finish(std::span<const Expr> outputs);
  void finish(std::initializer_list<Expr> outputs) { finish({outputs.begin(), outputs.size()}); }
  /// The value of this node is to outlive finish() and backward(), which free what they no longer need.
  void keep(const Expr& expr);

  /// Forgets all nodes and values. Every Expr made before is stale. What it found out about ops and shapes is kept, so
  /// that recording the like again is faster than in a new graph.
  void clear();

  /// What ran together and what did not, and why: the steps of all runs so far.
  std::string explain() const;
  /// The nodes, one a line.
  std::string list_nodes() const;
  /// Of the runs since the graph was made or cleared.
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
