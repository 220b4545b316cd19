#include "espalier/cells/recursion.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/cells/recursion_program.h"
#include "espalier/cells/trace.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/row.h"

namespace espalier {

using cells::CompiledRecursion;
using cells::RecursionInput;
using cells::RecursionProgram;
using cells::RowField;

Structure Structure::sequence(std::int32_t length, std::int32_t first, std::int32_t next, bool from_end) {
  Structure structure;
  for (std::int32_t t = 0; t < length; ++t) {
    const std::int32_t before = from_end ? t + 1 : t - 1;
    if (before < 0 || before == length)
      structure.add(first, t);
    else
      structure.add(next, t, {before});
  }
  return structure;
}

namespace {

/// How high the rows of a structure are: 0 without children, else one more than the highest of them. Refuses what no
/// recursion could run over.
class Heights {
 public:
  Heights(const std::string& name, const Structure& structure) : name_(name), structure_(structure) {
    const std::int32_t size = structure.size();
    heights_.assign(at(size), kUnknown);
    // Nearly always children come all before their parents, or all behind.
    std::int32_t known = 0;
    for (std::int32_t r = 0; r < size; ++r) known += find(r) ? 1 : 0;
    for (std::int32_t r = size - 1; r >= 0 && known < size; --r)
      if (heights_[at(r)] == kUnknown) known += find(r) ? 1 : 0;
    if (known < size) find_all();
  }

  std::int32_t operator[](std::int32_t row) const { return heights_[at(row)]; }

 private:
  static constexpr std::int32_t kUnknown = -1;

  bool find(std::int32_t row) {
    std::int32_t height = 0;
    for (const std::int32_t child : structure_.children(row)) {
      if (child < 0 || child >= structure_.size())
        throw UsageError(fmt::format("recursion \"{}\": row {} has row {} as a child, and there are rows 0 to {}", name_,
                                     row, child, structure_.size() - 1));
      if (heights_[at(child)] == kUnknown) return false;
      height = std::max(height, heights_[at(child)] + 1);
    }
    heights_[at(row)] = height;
    return true;
  }

  /// In any order: a row that is found asks for its parents.
  void find_all() {
    std::vector<std::int32_t> waits(heights_.size(), 0);
    std::vector<std::vector<std::int32_t>> parents(heights_.size());
    std::vector<std::int32_t> ready;
    for (std::int32_t r = 0; r < structure_.size(); ++r) {
      if (heights_[at(r)] != kUnknown) continue;
      for (const std::int32_t child : structure_.children(r)) {
        if (child < 0 || child >= structure_.size()) find(r);  // refuses
        if (heights_[at(child)] != kUnknown) continue;
        ++waits[at(r)];
        parents[at(child)].push_back(r);
      }
      if (waits[at(r)] == 0) ready.push_back(r);
    }
    while (!ready.empty()) {
      const std::int32_t row = ready.back();
      ready.pop_back();
      find(row);
      for (const std::int32_t parent : parents[at(row)])
        if (--waits[at(parent)] == 0) ready.push_back(parent);
    }
    const auto unknown = std::find(heights_.begin(), heights_.end(), kUnknown);
    if (unknown != heights_.end())
      throw UsageError(fmt::format("recursion \"{}\": row {} depends on itself, or on a row that does", name_,
                                   unknown - heights_.begin()));
  }

  const std::string& name_;
  const Structure& structure_;
  std::vector<std::int32_t> heights_;
};

}  // namespace

class Recursion::Impl {
 public:
  Impl(std::string name, std::vector<RecursionKind> kinds)
      : name_(std::move(name)), kinds_(std::move(kinds)) {
    for (const RecursionKind& kind : kinds_) most_children_ = std::max(most_children_, kind.children);
    if (std::none_of(kinds_.begin(), kinds_.end(), [](const RecursionKind& kind) { return kind.children == 0; }))
      throw UsageError(fmt::format("recursion \"{}\": some kind of row must be without children", name_));
  }

  std::vector<Expr> record(const Operand& x, const Structure& structure) {
    Graph& graph = cells::graph_of_inputs(name_, {&x, 1});
    check(graph, x, structure);
    const GraphOptions& options = graph.options();
    if (graph.is_trace() || options.expand_cells || options.execution == Execution::kPlain) return expand(x, structure);
    const NodeId node = x.expr().node();
    const TypeId type = graph.type_id(node);
    if (const KnownCell* known = graph.known_cells().find(uid_, {&type, 1});
        known != nullptr && known->epoch == graph.epoch())
      return states_of(graph,
                       graph.record_rows_like(known->update, fields_of(structure).data(), structure.size(),
                                              known->results, node, x.where()),
                       known->results);
    const std::shared_ptr<const CompiledRecursion> compiled = compiled_for(graph, x);
    if (compiled == nullptr) return expand(x, structure);
    KnownCell known;
    known.cell = uid_;
    known.inputs = 1;
    known.types[0] = type;
    known.results = static_cast<std::int32_t>(compiled->parts());
    known.update = record_first(graph, compiled, x, structure.size(), fields_of(structure).data());
    known.epoch = graph.epoch();
    graph.known_cells().put(known);
    return states_of(graph, known.update, known.results);
  }

 private:
  /// What was compiled for one shape of x.
  struct Use {
    Shape x;
    bool training = true;
    std::shared_ptr<const CompiledRecursion> compiled;  // null where its ops are to be recorded one by one
  };

  [[noreturn]] void refuse(const Operand& x, const std::string& sentence) const {
    throw UsageError(fmt::format("recursion \"{}\": {}\n  at {}", name_, sentence, x.where().to_string()));
  }

  void check(const Graph& graph, const Operand& x, const Structure& structure) const {
    if (x.parameter() != nullptr || !graph.is_many(x.expr().node()))
      refuse(x, "x is a single row; graph.input_rows(), lookup() of several rows and rows() make many");
    if (structure.size() == 0) refuse(x, "the structure has no rows");
    const std::int32_t rows = graph.rows(x.expr().node());
    for (std::int32_t r = 0; r < structure.size(); ++r) {
      const std::int32_t number = structure.kind(r);
      if (number < 0 || number >= static_cast<std::int32_t>(kinds_.size()))
        refuse(x, fmt::format("row {} is of kind {}, and there are kinds 0 to {}", r, number, kinds_.size() - 1));
      const RecursionKind& kind = kinds_[at(number)];
      if (static_cast<std::int32_t>(structure.children(r).size()) != kind.children)
        refuse(x, fmt::format("row {} has {} children, and rows of kind {} have {}", r, structure.children(r).size(),
                              number, kind.children));
      if (kind.takes_x && (structure.x(r) < 0 || structure.x(r) >= rows))
        refuse(x, fmt::format("row {} reads row {} of x, which has rows 0 to {}", r, structure.x(r), rows - 1));
    }
  }

  /// The fields of all rows, for the op.
  const std::vector<std::int32_t>& fields_of(const Structure& structure) const {
    thread_local std::vector<std::int32_t> fields;
    const Heights heights(name_, structure);
    const auto stride = at(RowField::kFirstChild + most_children_);
    fields.assign(at(structure.size()) * stride, -1);
    for (std::int32_t r = 0; r < structure.size(); ++r) {
      std::int32_t* const to = fields.data() + at(r) * stride;
      to[RowField::kKind] = structure.kind(r);
      to[RowField::kHeight] = heights[r];
      to[RowField::kX] = structure.x(r);
      const std::span<const std::int32_t> children = structure.children(r);
      std::copy(children.begin(), children.end(), to + RowField::kFirstChild);
    }
    return fields;
  }

  static std::vector<Expr> states_of(const Graph& graph, NodeId first, std::int32_t parts) {
    std::vector<Expr> states;
    for (std::int32_t k = 0; k < parts; ++k) states.push_back(graph.expr(NodeId{index_of(first) + k}));
    return states;
  }

  /// A node's signature has the address of what it was compiled to, which the graph then keeps alive.
  static NodeId record_first(Graph& graph, const std::shared_ptr<const CompiledRecursion>& compiled, const Operand& x,
                             std::int32_t rows, const void* fields) {
    const std::int32_t known = graph.signatures().size();
    std::vector<Operand> operands{x};
    for (const Parameter* parameter : compiled->parameters()) operands.emplace_back(parameter, x.where());
    struct Attrs {
      const CompiledRecursion* compiled;
      std::uint32_t part;
      std::uint32_t unused = 0;
    };
    const Attrs attrs{compiled.get(), 0};
    const Expr first = graph.record_rows(compiled->info(), &attrs, fields, rows, operands);
    const Operand cell(first, x.where());
    for (std::size_t k = 1; k < compiled->parts(); ++k) {
      const Attrs of_part{compiled.get(), static_cast<std::uint32_t>(k)};
      graph.record(compiled->info(k), &of_part, nullptr, std::span<const Operand>(&cell, 1));
    }
    if (graph.signatures().size() != known) graph.hold(compiled);
    return first.node();
  }

  // --- compiling -----------------------------------------------------------------------------------------------------

  std::shared_ptr<const CompiledRecursion> compiled_for(const Graph& graph, const Operand& x) {
    const Type& type = graph.type(x.expr().node());
    if (type.dtype != DType::kFloat32) return nullptr;
    const bool training = graph.options().training;
    const std::lock_guard lock(mutex_);
    for (const Use& use : uses_)
      if (use.x == type.shape && use.training == training) return use.compiled;
    uses_.push_back({type.shape, training, compile(graph.options(), type.shape)});
    return uses_.back().compiled;
  }

  /// Null where some kind cannot be compiled, or draws random numbers.
  std::shared_ptr<const CompiledRecursion> compile(const GraphOptions& options, const Shape& x) const {
    Graph scratch(options);
    const auto leaf = [&](const Shape& shape) { return scratch.input(Tensor(shape)); };
    std::vector<Shape> state;
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
        const std::shared_ptr<const Program> program = program_of(kind, scratch, exprs, k, state);
        if (program == nullptr) return nullptr;
        programs[k].program = program;
        programs[k].inputs = std::move(inputs);
        for (const Parameter* parameter : program->parameters()) {
          const auto found = std::find(parameters.begin(), parameters.end(), parameter);
          programs[k].parameters.push_back(1 + static_cast<std::size_t>(found - parameters.begin()));
          if (found == parameters.end()) parameters.push_back(parameter);
        }
      }
    if (1 + parameters.size() > cells::kMostRecursionInputs) return nullptr;
    return std::make_shared<const CompiledRecursion>(name_, std::move(programs), most_children_, std::move(parameters),
                                                     std::move(state));
  }

  using Program = cells::Program;

  /// Also finds, or checks, what a state is.
  std::shared_ptr<const Program> program_of(const RecursionKind& kind, Graph& scratch, const std::vector<Expr>& inputs,
                                            std::size_t number, std::vector<Shape>& state) const {
    if (inputs.empty()) return nullptr;  // computed from parameters alone
    const cells::FunctionRef function{&kind.function, [](const void* object, std::span<const Expr> in, ExprList& out) {
                                        (*static_cast<const RecursionKind::Function*>(object))(in, out);
                                      }};
    const std::vector<Operand> operands(inputs.begin(), inputs.end());
    const std::string name = fmt::format("{}.{}", name_, number);
    const std::shared_ptr<const cells::Compiled> compiled = cells::compile(name, {}, scratch, operands, function);
    if (compiled->update == nullptr || !compiled->is_direct() || compiled->random_ops > 0) return nullptr;
    std::vector<Shape> results;
    for (std::size_t p = 0; p < compiled->update->results(); ++p) results.push_back(compiled->update->result_shape(p));
    if (state.empty()) state = results;
    if (state != results) {
      const auto text = [](const std::vector<Shape>& shapes) {
        std::string list;
        for (const Shape& shape : shapes) list += (list.empty() ? "" : ", ") + shape.to_string();
        return list;
      };
      throw UsageError(fmt::format("recursion \"{}\": the state of a row of kind {} is {}, and that of others {}", name_,
                                   number, text(results), text(state)));
    }
    return compiled->update;
  }

  // --- op by op ------------------------------------------------------------------------------------------------------

  /// A use of its function for each row, from the lowest to the highest.
  std::vector<Expr> expand(const Operand& x, const Structure& structure) const {
    const Heights heights(name_, structure);
    std::vector<std::int32_t> order;
    for (std::int32_t r = 0; r < structure.size(); ++r) order.push_back(r);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return heights[a] < heights[b]; });
    std::vector<std::vector<Expr>> states(order.size());
    ExprList results;
    for (const std::int32_t r : order) {
      const RecursionKind& kind = kinds_[at(structure.kind(r))];
      std::vector<Expr> in;
      if (kind.takes_x) in.push_back(row(x, structure.x(r)));
      for (const std::int32_t child : structure.children(r))
        in.insert(in.end(), states[at(child)].begin(), states[at(child)].end());
      kind.function(in, results);
      states[at(r)].assign(results.begin(), results.end());
    }
    std::vector<Expr> parts;
    for (std::size_t p = 0; p < states[0].size(); ++p) {
      std::vector<Expr> all;
      for (const std::vector<Expr>& state : states) all.push_back(state[p]);
      parts.push_back(rows({all, x.where()}));
    }
    return parts;
  }

  std::string name_;
  std::vector<RecursionKind> kinds_;
  std::uint64_t uid_ = new_uid() | std::uint64_t{1} << 63;  // among those of cells, which count from 1
  std::int32_t most_children_ = 0;
  std::mutex mutex_;
  std::vector<Use> uses_;
};

Recursion::Recursion(std::string name, std::vector<RecursionKind> kinds)
    : impl_(std::make_unique<Impl>(std::move(name), std::move(kinds))) {}
Recursion::~Recursion() = default;
Recursion::Recursion(Recursion&&) noexcept = default;
Recursion& Recursion::operator=(Recursion&&) noexcept = default;

std::vector<Expr> Recursion::operator()(Operand x, const Structure& structure) const {
  return impl_->record(x, structure);
}

}  // namespace espalier
