#include "espalier/cells/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/cells/trace.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/row.h"

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

  /// Null where the ops are to be recorded one by one: explain() then says why.
  const Compiled* of(Graph& graph, std::span<const Operand> inputs, const FunctionRef& function) {
    const Use* const use = use_of(graph, inputs, function);
    if (use == nullptr) return nullptr;
    if (use->compiled->update != nullptr || use->compiled->projection != nullptr) return use->compiled.get();
    if (!use->compiled->why_not.empty() && !graph.has_note(uid_))
      graph.add_note(uid_, fmt::format("cell \"{}\": {}", name_, use->compiled->why_not));
    return nullptr;
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

  /// Null for float64, which is not compiled.
  const Use* use_of(Graph& graph, std::span<const Operand> inputs, const FunctionRef& function) {
    if (const Use* known = find(graph, inputs)) return known;
    if (std::any_of(inputs.begin(), inputs.end(), is_float64)) return nullptr;
    const std::lock_guard lock(mutex_);
    if (const Use* known = find(graph, inputs)) return known;
    auto use = std::make_unique<Use>();
    use->key = key_of(graph, inputs);
    use->training = graph.options().training;
    // What the function does to this graph, which is not its own, is taken back.
    graph.rehearse([&] { use->compiled = compile(name_, options_, graph, inputs, function); });
    use->next = first_.load(std::memory_order_relaxed);
    first_.store(use.get(), std::memory_order_release);
    return use.release();
  }

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

/// How many rows the inputs have; 0 if they are single rows.
std::int32_t rows_of_inputs(const Graph& graph, std::span<const Expr> inputs) {
  for (const Expr& input : inputs)
    if (graph.is_many(input.node())) return graph.rows(input.node());
  return 0;
}

/// Row r of each input.
std::vector<Expr> row_of_each(const Graph& graph, std::span<const Expr> inputs, std::int32_t r, SourceLine where) {
  std::vector<Expr> of_row;
  for (const Expr& input : inputs) of_row.push_back(graph.is_many(input.node()) ? row({input, where}, r) : input);
  return of_row;
}

/// Whether the function uses an op that takes a list of any length, such as sum().
bool uses_lists(Graph& graph, std::span<const Expr> inputs, SourceLine where, const FunctionRef& function) {
  bool any = false;
  graph.rehearse([&] {
    const std::int32_t begin = graph.size();
    ExprList results;
    function.call(function.object, row_of_each(graph, inputs, 0, where), results);
    for (std::int32_t i = begin; i < graph.size(); ++i) {
      const OpInfo& info = *graph.signature(NodeId{i}).info;
      any = any || (info.is_ragged() && !info.row_an_operand);
    }
  });
  return any;
}

/// Calls the function for each row by itself, and puts the results together.
void expand_by_rows(const Graph& graph, std::span<const Expr> inputs, std::int32_t row_count, SourceLine where,
                    const FunctionRef& function, ExprList& results) {
  std::vector<std::vector<Expr>> lists;
  for (std::int32_t r = 0; r < row_count; ++r) {
    const std::vector<Expr> of_row = row_of_each(graph, inputs, r, where);
    results.clear();
    function.call(function.object, of_row, results);
    lists.resize(results.size());
    for (std::size_t k = 0; k < results.size(); ++k) lists[k].push_back(results[k]);
  }
  results.clear();
  for (const std::vector<Expr>& list : lists)  // what is made from parameters alone is one row for all
    results.push_back(graph.shared(list[0].node()) ? list[0] : rows({list, where}));
}

/// Records the ops of a use one by one. A cell computes row by row, so that sum() of a list inside it must not add rows
/// up; outside a cell it does.
void expand(Graph& graph, std::span<const Operand> inputs, const FunctionRef& function, ExprList& results) {
  std::vector<Expr> exprs;
  for (const Operand& input : inputs)
    exprs.push_back(input.parameter() != nullptr ? graph.parameter(*input.parameter()) : input.expr());
  if (const std::int32_t row_count = rows_of_inputs(graph, exprs); row_count > 0) {
    const SourceLine where = inputs[0].where();
    if (uses_lists(graph, exprs, where, function))
      return expand_by_rows(graph, exprs, row_count, where, function, results);
  }
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

bool has_many_rows(const Graph& graph, std::span<const Operand> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Operand& input) {
    return input.parameter() == nullptr && graph.is_many(input.expr().node());
  });
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
    static_cast<const cells::Compiled*>(known->compiled)->record_like(graph, stacked, where, *known, results);
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
  // Rows of such a cell that are expanded draw their random numbers one row after the other. Compiled ones would draw
  // them op by op, so these are not compiled.
  const bool draws_by_rows = compiled != nullptr && compiled->takes_lists && compiled->random_ops > 0;
  if (compiled == nullptr || (draws_by_rows && has_many_rows(graph, inputs))) {
    expand(graph, inputs, function, results);
    return;
  }
  KnownCell known;
  compiled->record(graph, inputs, known, results);
  const auto types = stacked_types(graph, inputs);
  if (types.empty() || draws_by_rows) return;  // a known use may be of single rows
  known.cell = uses_->uid();
  known.inputs = static_cast<std::uint32_t>(types.size());
  std::copy(types.begin(), types.end(), known.types.begin());
  known.compiled = compiled;
  known.results = compiled->is_direct() ? static_cast<std::int32_t>(compiled->results.size()) : 0;
  known.epoch = graph.epoch();
  graph.known_cells().put(known);
}

}  // namespace espalier::cells
