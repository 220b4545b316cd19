#include "espalier/cells/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  const Compiled* of(Graph& graph, std::span<const Operand> inputs, const FunctionRef& function) {
    if (const Use* known = find(graph, inputs)) return known->compiled.get();
    if (std::any_of(inputs.begin(), inputs.end(), is_float64)) return nullptr;
    const std::lock_guard lock(mutex_);
    if (const Use* known = find(graph, inputs)) return known->compiled.get();
    auto use = std::make_unique<Use>();
    use->key = key_of(graph, inputs);
    use->training = graph.options().training;
    // What the function does to this graph, which is not its own, is taken back.
    graph.rehearse([&] { use->compiled = compile(name_, options_, graph, inputs, function); });
    if (use->compiled->update == nullptr && use->compiled->projection == nullptr) use->compiled = nullptr;
    use->next = first_.load(std::memory_order_relaxed);
    first_.store(use.get(), std::memory_order_release);
    return use.release()->compiled.get();
  }
  const std::string& name() const { return name_; }
  const CellOptions& options() const { return options_; }
  std::uint64_t uid() const { return uid_; }

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

  static std::uint64_t next_uid() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  std::string name_;
  CellOptions options_;
  std::uint64_t uid_ = next_uid();
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

namespace {

/// The types of inputs that all are stacked Exprs of as many rows; none where they are not, or are too many.
InlineList<TypeId, KnownCell::kMostInputs> stacked_types(const Graph& graph, std::span<const Operand> inputs) {
  InlineList<TypeId, KnownCell::kMostInputs> types;
  for (const Operand& input : inputs) {
    if (input.parameter() != nullptr || graph.shared(input.expr().node()) || types.size() == KnownCell::kMostInputs ||
        !graph.has_rows_like(input.expr().node(), inputs[0].expr().node()))
      return {};
    types.push_back(graph.type_id(input.expr().node()));
  }
  return types;
}

}  // namespace

bool Core::record_again(std::span<const Expr> inputs, SourceLine where, std::span<Expr> results) const {
  if (inputs.empty()) return false;
  const GraphSlot* const slot = inputs[0].slot();
  if (slot == nullptr || slot->generation.load(std::memory_order_acquire) != inputs[0].generation()) return false;
  Graph& graph = *slot->graph.load(std::memory_order_acquire);
  std::array<NodeId, KnownCell::kMostInputs>
      nodes;  // NOLINT(cppcoreguidelines-pro-type-member-init): as many as inputs
  const KnownCell* const known = graph.known_use(uses_->uid(), inputs, nodes);
  if (known == nullptr) return false;
  const std::span<const NodeId> stacked(nodes.data(), inputs.size());
  if (known->results == 0) {
    known->compiled->record_like(graph, stacked, where, *known, results);
    return true;
  }
  const NodeId first = graph.record_like(known->update, known->results, stacked, where);
  for (std::size_t k = 0; k < results.size(); ++k)
    results[k] = graph.expr(NodeId{index_of(first) + static_cast<std::int32_t>(k)});
  return true;
}

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
  if (compiled == nullptr) {
    expand(graph, inputs, function, results);
    return;
  }
  KnownCell known;
  compiled->record(graph, inputs, known, results);
  const auto types = stacked_types(graph, inputs);
  if (types.empty()) return;
  known.cell = uses_->uid();
  known.inputs = static_cast<std::uint32_t>(types.size());
  std::copy(types.begin(), types.end(), known.types.begin());
  known.compiled = compiled;
  known.results = compiled->is_direct() ? static_cast<std::int32_t>(compiled->results.size()) : 0;
  known.epoch = graph.epoch();
  graph.known_cells().put(known);
}

}  // namespace espalier::cells
