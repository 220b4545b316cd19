#include "espalier/cells/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/cells/trace.h"

namespace espalier::cells {
namespace {

bool is_float64(const Operand& operand) { return operand.dtype() != DType::kFloat32; }

}  // namespace

/// What was compiled for one combination of shapes.
class Core::Uses {
 public:
  Uses(std::string name, CellOptions options) : name_(std::move(name)), options_(std::move(options)) {}
  ~Uses() {
    for (Use* use = first_.load(); use != nullptr;) delete std::exchange(use, use->next);
  }
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  /// Null where the ops are to be recorded one by one.
  const Compiled* of(const Graph& graph, std::span<const Operand> inputs, const FunctionRef& function) {
    if (const Use* known = find(graph, inputs)) return known->compiled.get();
    if (std::any_of(inputs.begin(), inputs.end(), is_float64)) return nullptr;
    const std::lock_guard lock(mutex_);
    if (const Use* known = find(graph, inputs)) return known->compiled.get();
    auto use = std::make_unique<Use>();
    use->key = key_of(graph, inputs);
    use->training = graph.options().training;
    use->compiled = compile(name_, options_, graph, inputs, function);
    if (use->compiled->update == nullptr && use->compiled->projection == nullptr) use->compiled = nullptr;
    use->next = first_.load(std::memory_order_relaxed);
    first_.store(use.get(), std::memory_order_release);
    return use.release()->compiled.get();
  }
  const std::string& name() const { return name_; }
  const CellOptions& options() const { return options_; }

 private:
  struct Key {
    Shape shape;
    DType dtype = DType::kFloat32;
    bool shared = false;
    bool operator==(const Key&) const = default;
  };
  struct Use {
    std::vector<Key> key;
    bool training = true;  // dropout is another function outside training
    std::shared_ptr<const Compiled> compiled;
    Use* next = nullptr;
  };

  static Key key_of(const Graph& graph, const Operand& input) {
    if (const Parameter* parameter = input.parameter()) return {parameter->shape(), parameter->value().dtype(), true};
    const NodeId node = input.expr().node();
    return {graph.type(node).shape, graph.type(node).dtype, graph.shared(node)};
  }
  static std::vector<Key> key_of(const Graph& graph, std::span<const Operand> inputs) {
    std::vector<Key> key;
    for (const Operand& input : inputs) key.push_back(key_of(graph, input));
    return key;
  }
  const Use* find(const Graph& graph, std::span<const Operand> inputs) const {
    for (const Use* use = first_.load(std::memory_order_acquire); use != nullptr; use = use->next) {
      bool same = use->training == graph.options().training && use->key.size() == inputs.size();
      for (std::size_t i = 0; i < inputs.size() && same; ++i) same = use->key[i] == key_of(graph, inputs[i]);
      if (same) return use;
    }
    return nullptr;
  }

  std::string name_;
  CellOptions options_;
  std::mutex mutex_;
  std::atomic<Use*> first_{nullptr};
};

Core::Core(std::string name, CellOptions options)
    : uses_(std::make_unique<Uses>(std::move(name), std::move(options))) {}
Core::~Core() = default;

void Core::require_inputs(std::size_t inputs) const {
  for (std::size_t outer : uses_->options().outer)
    if (outer >= inputs)
      throw UsageError(
          fmt::format("cell \"{}\": input {} cannot be outer: it has {} inputs", uses_->name(), outer, inputs));
}

namespace {

void expand(Graph& graph, std::span<const Operand> inputs, const FunctionRef& function, ExprList& results) {
  std::vector<Expr> exprs;
  for (const Operand& input : inputs)
    exprs.push_back(input.parameter() != nullptr ? graph.parameter(*input.parameter()) : input.expr());
  results.clear();
  function.call(function.object, exprs, results);
}

}  // namespace

void Core::record(std::span<const Operand> inputs, const FunctionRef& function, ExprList& results) const {
  Graph& graph = graph_of_inputs(uses_->name(), inputs);
  const GraphOptions& options = graph.options();
  if (graph.is_trace() || options.expand_cells || options.execution == Execution::kPlain) {
    expand(graph, inputs, function, results);
    return;
  }
  const Compiled* compiled = nullptr;
  try {
    compiled = uses_->of(graph, inputs, function);
  } catch (const CellError&) {
    throw;
  } catch (const UsageError&) {
    // A mistake of the function's own is better told by the user's graph, with the user's nodes.
    graph.rehearse([&] { expand(graph, inputs, function, results); });
    throw;
  }
  if (compiled == nullptr)
    expand(graph, inputs, function, results);
  else
    compiled->record(graph, inputs, results);
}

}  // namespace espalier::cells
