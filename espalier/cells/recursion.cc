#include "espalier/cells/recursion.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/base/nearest.h"
#include "espalier/cells/any_children.h"
#include "espalier/cells/record_use.h"
#include "espalier/cells/recursion_program.h"
#include "espalier/cells/row_fields.h"
#include "espalier/cells/trace.h"
#include "espalier/ops/first_rows.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/row.h"

namespace espalier {

using cells::CompiledRecursion;
using cells::RecursionInput;
using cells::RecursionProgram;
using cells::RowFields;

void Structure::add_sequence(std::int32_t length, KindId kind, bool from_end) {
  const std::int32_t begin = size();
  rows_.reserve(rows_.size() + static_cast<std::size_t>(std::max(length, 0)));
  for (std::int32_t t = 0; t < length; ++t) {
    const std::int32_t before = from_end ? t + 1 : t - 1;
    add(kind, begin + t, {before < 0 || before == length ? kMissing : begin + before});
  }
}

class Recursion::Impl {
 public:
  Impl(std::string name, std::vector<RecursionKind> kinds, std::vector<Shape> state)
      : name_(std::move(name)), any_children_(name_, kinds), kinds_(std::move(kinds)), state_(std::move(state)) {
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      for (std::size_t other = 0; other < k; ++other)
        if (kinds_[other].name == kinds_[k].name)
          throw UsageError(fmt::format("recursion \"{}\": two kinds are called \"{}\"", name_, kinds_[k].name));
    for (const RecursionKind& kind : kinds_) most_children_ = std::max(most_children_, kind.children);
    const auto is_without = [](const RecursionKind& kind) { return kind.children == 0; };
    if (state_.empty() && std::none_of(kinds_.begin(), kinds_.end(), is_without))
      throw UsageError(fmt::format(
          "recursion \"{}\": no kind of row is without children, so that the shapes of a state are needed", name_));
  }

  KindId kind(std::string_view name) const {
    std::vector<std::string_view> names;
    for (std::size_t k = 0; k < any_children_.given_kinds(); ++k) {
      if (kinds_[k].name == name) return KindId{static_cast<std::int32_t>(k)};
      names.push_back(kinds_[k].name);
    }
    throw UsageError(
        fmt::format("recursion \"{}\": it has no kind \"{}\"{}", name_, name, suggestion_or_names(name, names)));
  }

  std::vector<Expr> record(const Operand& x, const Structure& structure) {
    Graph& graph = cells::graph_of_inputs(name_, {&x, 1});
    const NodeId node = x.expr().node();
    if (x.parameter() != nullptr || !graph.is_many(node))
      throw UsageError(
          fmt::format("recursion \"{}\": x is a single row; graph.rows(), lookup_rows() and rows() make many\n  at {}",
                      name_, x.where().to_string()));
    try {
      if (!any_children_.any()) return record(graph, x, node, structure, {});
      const cells::FixedStructure fixed = any_children_.rewrite(structure);
      std::vector<Expr> states = record(graph, x, node, fixed.structure, fixed.heights);
      if (fixed.structure.size() > structure.size())
        for (Expr& state : states) state = first_rows(x.at(state), structure.size());
      return states;
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}\n  at {}", error.what(), x.where().to_string()));
    }
  }

 private:
  /// What was compiled for one shape of x.
  struct Use {
    Shape x;
    bool training = true;
    std::shared_ptr<const CompiledRecursion> compiled;  // null where its ops are to be recorded one by one
    std::string why_not;
  };

  std::vector<Expr> record(Graph& graph, const Operand& x, NodeId node, const Structure& structure,
                           std::span<const std::int32_t> heights) {
    const RowFields fields(name_, kinds_, most_children_, structure, graph.rows(node), heights);
    const GraphOptions& options = graph.options();
    if (graph.is_trace() || options.expand_cells || options.execution == Execution::kPlain)
      return expand(x, structure, fields);
    const TypeId type = graph.type_id(node);
    if (KnownCell* known = graph.known_cells().find(uid_, {&type, 1})) {
      const NodeId first = record_like(graph, *known, x, structure.size(), fields.data());
      if (index_of(first) >= 0) return states_of(graph, first, known->results);
    }
    const std::shared_ptr<const CompiledRecursion> compiled = compiled_for(graph, x);
    if (compiled == nullptr) {
      if (!graph.has_note(uid_)) add_note(graph, x);
      return expand(x, structure, fields);
    }
    KnownCell known;
    known.cell = uid_;
    known.inputs = 1;
    known.types[0] = type;
    known.results = static_cast<std::int32_t>(compiled->parts());
    known.update = record_first(graph, compiled, x, structure.size(), fields.data());
    known.epoch = graph.epoch();
    if (compiled->parts() <= KnownCell::kMostSignatures) {
      for (std::size_t k = 0; k < compiled->parts(); ++k)
        known.signatures[k] = graph.signature_id(NodeId{index_of(known.update) + static_cast<std::int32_t>(k)});
      known.signature_epoch = graph.signature_epoch();
    }
    graph.known_cells().put(known);
    return states_of(graph, known.update, known.results);
  }

  /// Like an earlier use, in this graph or before it was cleared; -1 where there is none.
  static NodeId record_like(Graph& graph, KnownCell& known, const Operand& x, std::int32_t rows, const void* fields) {
    const NodeId node = x.expr().node();
    if (known.epoch == graph.epoch())
      return graph.record_rows_like(known.update, fields, rows, known.results, node, x.where());
    if (known.signature_epoch != graph.signature_epoch()) return NodeId{-1};
    const std::span<const SignatureId> results(known.signatures.data(), at(known.results));
    const CompiledRecursion& compiled = cells::recursion_of(graph.signatures().attrs(results[0]));
    known.update = NodeId{graph.record_rows_again(results, compiled.parameters(), fields, rows, node, x.where())};
    known.epoch = index_of(known.update) < 0 ? 0 : graph.epoch();
    return known.update;
  }

  static std::vector<Expr> states_of(const Graph& graph, NodeId first, std::int32_t parts) {
    std::vector<Expr> states;
    states.reserve(at(parts));
    for (std::int32_t k = 0; k < parts; ++k) states.push_back(graph.expr(NodeId{index_of(first) + k}));
    return states;
  }

  static NodeId record_first(Graph& graph, const std::shared_ptr<const CompiledRecursion>& compiled, const Operand& x,
                             std::int32_t rows, const void* fields) {
    std::vector<Operand> operands{x};
    for (const Parameter* parameter : compiled->parameters()) operands.emplace_back(parameter, x.where());
    return cells::record_use(graph, compiled, compiled->parts(), fields, rows, std::span<const Operand>(operands));
  }

  // --- compiling -----------------------------------------------------------------------------------------------------

  std::shared_ptr<const CompiledRecursion> compiled_for(const Graph& graph, const Operand& x) {
    const Type& type = graph.type(x.expr().node());
    if (type.dtype != DType::kFloat32) return nullptr;
    const bool training = graph.options().training;
    const std::lock_guard lock(mutex_);
    for (const Use& use : uses_)
      if (use.x == type.shape && use.training == training) return use.compiled;
    std::string why_not;
    auto compiled = compile(graph.options(), type.shape, why_not);
    uses_.push_back({type.shape, training, std::move(compiled), std::move(why_not)});
    return uses_.back().compiled;
  }

  /// Says to explain() why rows are recorded op by op.
  void add_note(Graph& graph, const Operand& x) {
    const Type& type = graph.type(x.expr().node());
    const std::lock_guard lock(mutex_);
    for (const Use& use : uses_)
      if (use.x == type.shape && use.training == graph.options().training && !use.why_not.empty())
        graph.add_note(uid_, fmt::format("recursion \"{}\": {}", name_, use.why_not));
  }

  /// Null where some kind cannot be compiled, or draws random numbers; `why_not` says which.
  std::shared_ptr<const CompiledRecursion> compile(const GraphOptions& options, const Shape& x,
                                                   std::string& why_not) const {
    Graph scratch(options);
    const auto leaf = [&](const Shape& shape) { return scratch.input(Tensor(shape)); };
    std::vector<Shape> state = state_;
    std::vector<RecursionProgram> programs(kinds_.size());
    std::vector<const Parameter*> parameters;
    // Those without children first: they say what a state is.
    for (const bool without : {true, false})
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        const RecursionKind& kind = kinds_[k];
        if ((kind.children == 0) != without) continue;
        std::vector<Expr> exprs;
        std::vector<RecursionInput> inputs;
        if (kind.takes_x) {
          exprs.push_back(leaf(x));
          inputs.push_back({.width = x.elements()});
        }
        for (std::int32_t c = 0; c < kind.children; ++c)
          for (std::size_t p = 0; p < state.size(); ++p) {
            exprs.push_back(leaf(state[p]));
            inputs.push_back({.child = c, .part = static_cast<std::int32_t>(p), .width = state[p].elements()});
          }
        const std::shared_ptr<const Program> program = program_of(kind, scratch, exprs, state, why_not);
        if (program == nullptr) return nullptr;
        programs[k].program = program;
        programs[k].inputs = std::move(inputs);
        for (const Parameter* parameter : program->parameters()) {
          const auto found = std::find(parameters.begin(), parameters.end(), parameter);
          programs[k].parameters.push_back(1 + static_cast<std::size_t>(found - parameters.begin()));
          if (found == parameters.end()) parameters.push_back(parameter);
        }
      }
    if (1 + parameters.size() > cells::kMostRecursionInputs) {
      why_not = fmt::format("its functions have {} parameters, and at most {} can be compiled", parameters.size(),
                            cells::kMostRecursionInputs - 1);
      return nullptr;
    }
    return std::make_shared<const CompiledRecursion>(name_, std::move(programs), most_children_, std::move(parameters),
                                                     std::move(state));
  }

  using Program = cells::Program;

  /// Also finds, or checks, what a state is.
  std::shared_ptr<const Program> program_of(const RecursionKind& kind, Graph& scratch, const std::vector<Expr>& inputs,
                                            std::vector<Shape>& state, std::string& why_not) const {
    const auto refuse = [&](const std::string& why) {
      why_not = fmt::format("kind \"{}\": {}", kind.name, why);
      return nullptr;
    };
    if (inputs.empty()) return refuse("its function computes a state from parameters alone");
    const cells::FunctionRef function{&kind.function, [](const void* object, std::span<const Expr> in, ExprList& out) {
                                        (*static_cast<const RecursionKind::Function*>(object))(in, out);
                                      }};
    const std::vector<Operand> operands(inputs.begin(), inputs.end());
    const std::string name = fmt::format("{}.{}", name_, kind.name);
    const std::shared_ptr<const cells::Compiled> compiled = cells::compile(name, {}, scratch, operands, function);
    if (compiled->random_ops > 0) return refuse("its function draws random numbers");
    if (compiled->update == nullptr && !compiled->why_not.empty()) return refuse(compiled->why_not);
    if (compiled->update == nullptr || !compiled->is_direct())
      return refuse("its function gives back an input as it is");
    std::vector<Shape> results;
    results.reserve(compiled->update->results());
    for (std::size_t p = 0; p < compiled->update->results(); ++p) results.push_back(compiled->update->result_shape(p));
    if (state.empty()) state = results;
    if (state != results) {
      const auto text = [](const std::vector<Shape>& shapes) {
        std::string list;
        for (const Shape& shape : shapes) list += (list.empty() ? "" : ", ") + shape.to_string();
        return list;
      };
      throw UsageError(fmt::format("recursion \"{}\": the state of a row of kind \"{}\" is {}, and that of others {}",
                                   name_, kind.name, text(results), text(state)));
    }
    return compiled->update;
  }

  // --- op by op ------------------------------------------------------------------------------------------------------

  /// A use of its function for each row, from the lowest to the highest.
  std::vector<Expr> expand(const Operand& x, const Structure& structure, const RowFields& fields) const {
    std::vector<std::int32_t> order;
    order.reserve(at(structure.size()));
    for (std::int32_t r = 0; r < structure.size(); ++r) order.push_back(r);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return fields.height_of(a) < fields.height_of(b); });
    std::vector<std::vector<Expr>> states(order.size());
    std::vector<Expr> zeros;
    ExprList results;
    for (const std::int32_t r : order) {
      const RecursionKind& kind = kinds_[static_cast<std::size_t>(structure.kind(r))];
      std::vector<Expr> in;
      if (kind.takes_x) in.push_back(row(x, structure.x(r)));
      for (const std::int32_t child : structure.children(r)) {
        if (child == Structure::kMissing && zeros.empty()) zeros = zero_state(x, states);
        const std::vector<Expr>& state = child == Structure::kMissing ? zeros : states[at(child)];
        in.insert(in.end(), state.begin(), state.end());
      }
      kind.function(in, results);
      states[at(r)].assign(results.begin(), results.end());
    }
    std::vector<Expr> parts;
    for (std::size_t p = 0; p < states[0].size(); ++p) {
      std::vector<Expr> all;
      all.reserve(states.size());
      for (const std::vector<Expr>& state : states) all.push_back(state[p]);
      parts.push_back(rows({all, x.where()}));
    }
    return parts;
  }

  /// Of the shapes that were given, or of the state of a row before, or of what the functions compile to.
  std::vector<Expr> zero_state(const Operand& x, const std::vector<std::vector<Expr>>& states) const {
    std::vector<Shape> shapes = state_;
    if (shapes.empty())
      for (const std::vector<Expr>& state : states)
        if (shapes.empty())
          for (const Expr& part : state) shapes.push_back(part.shape());
    if (shapes.empty() && x.dtype() == DType::kFloat32)
      if (std::string why_not; const auto compiled = compile(x.expr().graph().options(), x.shape(), why_not))
        for (std::size_t p = 0; p < compiled->parts(); ++p) shapes.push_back(compiled->state(p));
    if (shapes.empty())
      throw UsageError(fmt::format(
          "recursion \"{}\": a child is missing before any row has a state; give the shapes of a state", name_));
    std::vector<Expr> zeros;
    zeros.reserve(shapes.size());
    for (const Shape& shape : shapes) zeros.push_back(x.expr().graph().input(Tensor(shape, x.dtype())));
    return zeros;
  }

  std::string name_;
  cells::AnyChildren any_children_;  // first: it adds to the kinds that are given
  std::vector<RecursionKind> kinds_;
  std::vector<Shape> state_;
  std::uint64_t uid_ = new_uid() | std::uint64_t{1} << 63;  // among those of cells, which count from 1
  std::int32_t most_children_ = 0;
  std::mutex mutex_;
  std::vector<Use> uses_;
};

Recursion::Recursion(std::string name, std::vector<RecursionKind> kinds, std::vector<Shape> state)
    : impl_(std::make_unique<Impl>(std::move(name), std::move(kinds), std::move(state))) {}
Recursion::~Recursion() = default;
Recursion::Recursion(Recursion&&) noexcept = default;
Recursion& Recursion::operator=(Recursion&&) noexcept = default;

KindId Recursion::kind(std::string_view name) const { return impl_->kind(name); }

std::vector<Expr> Recursion::operator()(Operand x, const Structure& structure) const {
  return impl_->record(x, structure);
}

}  // namespace espalier
