// The nodes of a use of a cell: one for each of its programs, and one for each further result.
#include <algorithm>
#include <array>
#include <vector>

#include "espalier/cells/record_use.h"
#include "espalier/cells/trace.h"

namespace espalier::cells {
namespace {

/// The fields of a node, one for each of its rows: the places of its random ops in the random numbers.
class Fields {
 public:
  Fields(Graph& graph, const Program& program, const Graph::RandomPlace& first, std::int32_t rows) {
    if (program.random_ops().empty()) return;
    bytes_.resize(static_cast<std::size_t>(program.info().field_bytes) * static_cast<std::size_t>(rows));
    program.info().place_rows(bytes_.data(), rows, graph.options().seed, graph.step(), first.instance_key,
                              first.number);
  }
  const void* data() const { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

/// How many rows the stacked inputs have; 0 where none has many.
std::int32_t rows_of(const Graph& graph, std::span<const Operand> inputs) {
  for (const Operand& input : inputs)
    if (input.parameter() == nullptr && graph.is_many(input.expr().node())) return graph.rows(input.expr().node());
  return 0;
}

/// Records a use of a program; the graph is told all about it.
NodeId record_program(Graph& graph, const std::shared_ptr<const Program>& program, std::span<const Operand> inputs,
                      const Graph::RandomPlace& first, ExprList& results) {
  InlineList<Operand, 16> operands;
  for (const Operand& input : inputs) operands.push_back(input);
  for (const Parameter* parameter : program->parameters()) operands.push_back({parameter, inputs[0].where()});
  const std::int32_t rows = rows_of(graph, inputs);
  const Fields fields(graph, *program, first, std::max(rows, 1));
  const NodeId cell = record_use(graph, program, program->results(), fields.data(),
                                 program->random_ops().empty() ? 0 : rows, std::span<const Operand>(operands));
  for (std::size_t k = 0; k < program->results(); ++k)
    results.push_back(graph.expr(NodeId{index_of(cell) + static_cast<std::int32_t>(k)}));
  return cell;
}

/// Records a use of a program like an earlier one. Its further results are the nodes behind the one that is returned.
NodeId record_program_like(Graph& graph, NodeId sample, const Program& program, std::span<const NodeId> inputs,
                           const Graph::RandomPlace& first, SourceLine where) {
  if (program.random_ops().empty() && !inputs.empty())
    return graph.record_like(sample, static_cast<std::int32_t>(program.results()), inputs, where);
  const Fields fields(graph, program, first, inputs.empty() ? 1 : graph.rows(inputs[0]));
  const NodeId cell = graph.record_like(sample, fields.data(), inputs, where);
  for (std::size_t k = 1; k < program.results(); ++k)
    graph.record_like(NodeId{index_of(sample) + static_cast<std::int32_t>(k)}, nullptr, {&cell, 1}, where);
  return cell;
}

}  // namespace

bool Compiled::is_direct() const {
  const auto in_order = [](std::span<const Source> sources, From from) {
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (sources[i].from != from || sources[i].number != i) return false;
    return true;
  };
  return projection == nullptr && random_ops == 0 && in_order(update_inputs, From::kInput) &&
         in_order(results, From::kUpdate) && results.size() == update->results();
}

void Compiled::record(Graph& graph, std::span<const Operand> inputs, KnownCell& known, ExprList& to) const {
  ExprList projected;
  ExprList updated;
  OperandList operands;
  const auto gather = [&](std::span<const Source> sources) {
    operands.clear();
    for (const Source& source : sources)
      operands.push_back(source.from == From::kInput ? inputs[source.number]
                                                     : Operand(projected[source.number], inputs[0].where()));
  };
  const Graph::RandomPlace first_random =
      graph.next_random_places(random_ops * static_cast<std::uint32_t>(std::max(rows_of(graph, inputs), 1)));
  if (projection != nullptr) {
    gather(projection_inputs);
    known.projection = record_program(graph, projection, operands, first_random, projected);
  }
  if (update != nullptr) {
    gather(update_inputs);
    known.update = record_program(graph, update, operands, first_random, updated);
  }
  to.clear();
  for (const Source& source : results) {
    if (source.from == From::kUpdate)
      to.push_back(updated[source.number]);
    else if (source.from == From::kProjection)
      to.push_back(projected[source.number]);
    else
      to.push_back(inputs[source.number].parameter() != nullptr ? graph.parameter(*inputs[source.number].parameter())
                                                                : inputs[source.number].expr());
  }
}

void Compiled::record_like(Graph& graph, std::span<const NodeId> inputs, SourceLine where, const KnownCell& known,
                           std::span<Expr> to) const {
  const Graph::RandomPlace first_random =
      graph.next_random_places(random_ops * static_cast<std::uint32_t>(graph.rows(inputs[0])));
  NodeId projected{};
  NodeId updated{};
  const auto node_of = [&](const Source& source) {
    if (source.from == From::kInput) return inputs[source.number];
    const NodeId first = source.from == From::kUpdate ? updated : projected;
    return NodeId{index_of(first) + static_cast<std::int32_t>(source.number)};
  };
  std::array<NodeId, kMostInputs> nodes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  const auto gather = [&](std::span<const Source> sources) {
    std::size_t count = 0;
    for (const Source& source : sources) nodes[count++] = node_of(source);
    return std::span<const NodeId>(nodes).first(count);
  };
  if (projection != nullptr)
    projected =
        record_program_like(graph, known.projection, *projection, gather(projection_inputs), first_random, where);
  if (update != nullptr)
    updated = record_program_like(graph, known.update, *update, gather(update_inputs), first_random, where);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = graph.expr(node_of(results[i]));
}

}  // namespace espalier::cells
