#include "espalier/onnx/body.h"

#include <fmt/format.h>

#include <cstring>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/cells/program.h"
#include "espalier/cells/recursion_program.h"
#include "espalier/onnx/emissions.h"

namespace espalier::onnx {
namespace {

std::string hex(std::span<const std::uint32_t> words) {
  std::string text;
  for (const std::uint32_t word : words) text += fmt::format("{:x},", word);
  return text;
}

std::vector<std::uint32_t> attrs_of(const Graph& graph, NodeId node) {
  std::vector<std::uint32_t> attrs(at(graph.signature(node).info->attr_words));
  if (!attrs.empty()) std::memcpy(attrs.data(), graph.attrs(node), attrs.size() * sizeof(std::uint32_t));
  return attrs;
}

/// How a shared node is computed: the name of a parameter, or a call of an op.
std::string shared_name(const Graph& graph, NodeId node) {
  if (const Parameter* parameter = graph.parameter_of(node)) return parameter->name();
  std::string text(graph.signature(node).info->name);
  if (const std::vector<std::uint32_t> attrs = attrs_of(graph, node); !attrs.empty()) text += "[" + hex(attrs) + "]";
  if (const std::int32_t bytes = graph.signature(node).info->field_bytes; bytes > 0)
    text += fmt::format("{{{:02x}}}", fmt::join(std::span(static_cast<const std::uint8_t*>(graph.fields(node)),
                                                          static_cast<std::size_t>(bytes)),
                                                ""));
  text += "(";
  for (const NodeId input : graph.inputs(node)) text += (text.back() == '(' ? "" : ", ") + shared_name(graph, input);
  return text + ")";
}

Shared shared_of(const Graph& graph, NodeId node) {
  return {shared_name(graph, node), graph.parameter_of(node), node, graph.type(node).shape};
}

/// Translates a compiled function. Its bases are written whole, so that each has one newest value at any time.
class CellReader {
 public:
  CellReader(const Graph& graph, const cells::Program& program, std::span<const NodeId> inputs)
      : graph_(graph), program_(program), inputs_(inputs), newest_(program.bases().size(), -1) {}

  Body read() {
    body_.name = program_.info().name;
    const std::span<const Input> declared = program_.info().inputs;
    for (std::size_t i = 0; i < declared.size(); ++i) open_input(i, declared[i].role == Role::kShared);
    for (const cells::Instruction& instruction : program_.instructions()) add(instruction);
    for (std::size_t k = 0; k < program_.results(); ++k) body_.results.push_back(result(k));
    return std::move(body_);
  }

 private:
  std::int32_t add_value(const BodyValue& value) {
    body_.values.push_back(value);
    return static_cast<std::int32_t>(body_.values.size()) - 1;
  }

  void open_input(std::size_t i, bool is_shared) {
    if (is_shared) {
      body_.shared.push_back(shared_of(graph_, inputs_[i]));
      shared_value_.push_back(add_value(
          {.shape = body_.shared.back().shape, .shared = static_cast<std::int32_t>(body_.shared.size()) - 1}));
      return;
    }
    shared_value_.push_back(-1);
    for (std::size_t b = 0; b < program_.bases().size(); ++b) {
      const cells::Base& base = program_.bases()[b];
      if (base.place != cells::Place::kInput || base.number != static_cast<std::int32_t>(i)) continue;
      newest_[b] = add_value({.shape = Shape{base.width}, .operand = static_cast<std::int32_t>(body_.operands.size())});
      body_.operands.push_back(Shape{base.width});
    }
  }

  /// The value that an instruction reads.
  std::int32_t read(std::int32_t id) {
    const cells::Value& from = program_.value(id);
    if (from.base < 0) return shared_value_[at(from.shared)];
    const std::int32_t whole = newest_[at(from.base)];
    if (whole < 0) throw InternalError("onnx: a cell reads a value that was not written");
    if (from.offset == 0 && body_.values[at(whole)].shape == from.shape) return whole;
    BodyOp columns;
    columns.in = {whole};
    columns.offset = from.offset;
    columns.out = add_value({.shape = from.shape});
    body_.ops.push_back(columns);
    return columns.out;
  }

  void add(const cells::Instruction& instruction) {
    const cells::Value& to = program_.value(instruction.out);
    BodyOp op;
    op.info = instruction.info;
    op.attrs = instruction.attrs;
    op.fields = instruction.fields;
    op.parts = instruction.is_product() ? instruction.parts : 1;
    for (const std::int32_t id : instruction.in) op.in.push_back(read(id));
    if (instruction.accumulates) op.plus = newest_[at(to.base)];
    op.out = add_value({.shape = to.shape});
    newest_[at(to.base)] = op.out;
    body_.ops.push_back(std::move(op));
  }

  /// The newest value of the base of a result, in the result's shape.
  std::int32_t result(std::size_t k) {
    for (std::size_t b = 0; b < program_.bases().size(); ++b) {
      const cells::Base& base = program_.bases()[b];
      if (base.place != cells::Place::kResult || base.number != static_cast<std::int32_t>(k) || newest_[b] < 0)
        continue;
      if (body_.values[at(newest_[b])].shape == program_.result_shape(k)) return newest_[b];
      BodyOp columns;
      columns.in = {newest_[b]};
      columns.out = add_value({.shape = program_.result_shape(k)});
      body_.ops.push_back(columns);
      return columns.out;
    }
    throw InternalError("onnx: a cell does not write one of its results");
  }

  const Graph& graph_;
  const cells::Program& program_;
  std::span<const NodeId> inputs_;
  Body body_;
  std::vector<std::int32_t> newest_;        // by base: a value, or -1
  std::vector<std::int32_t> shared_value_;  // by input: a value, or -1
};

/// Shapes, as in "150" and "2x3"; nothing for rank 0.
std::string short_shape(const Shape& shape) {
  std::string text;
  for (std::int32_t a = 0; a < shape.rank(); ++a) text += (a == 0 ? "" : "x") + std::to_string(shape[a]);
  return text;
}

/// What people call it: the op, its shapes, and its weights.
std::string name_of_op(const Body& body, const OpInfo& info) {
  std::string text;
  for (const Shared& shared : body.shared) text += (text.empty() ? "" : ", ") + shared.name;
  if (!text.empty()) return fmt::format("{}({})", info.name, text);
  for (const Shape& shape : body.operands) text += (text.empty() ? "" : ", ") + short_shape(shape);
  return fmt::format("{}[{}]", info.name, text);
}

Body op_body(const Graph& graph, NodeId node) {
  const OpInfo& info = *graph.signature(node).info;
  Body body;
  BodyOp op;
  op.info = &info;
  op.attrs = attrs_of(graph, node);
  body.ragged = info.is_ragged();
  const std::span<const NodeId> inputs = graph.inputs(node);
  // The number of operands of a ragged op is not in its signature; join_rows reads as many rows as it joins.
  std::size_t count = body.ragged ? 1 : inputs.size();
  if (info.name == "join_rows") count = at(static_cast<std::int32_t>(op.attrs[0]));
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId input = inputs[info.name == "join_rows" ? 0 : i];
    BodyValue value{.shape = graph.type(input).shape};
    if (info.by_identity(i) && graph.shared(input)) {
      value.shared = static_cast<std::int32_t>(body.shared.size());
      body.shared.push_back(shared_of(graph, input));
    } else {
      value.operand = static_cast<std::int32_t>(body.operands.size());
      body.operands.push_back(value.shape);
    }
    op.in.push_back(static_cast<std::int32_t>(body.values.size()));
    body.values.push_back(value);
  }
  op.out = static_cast<std::int32_t>(body.values.size());
  body.values.push_back({.shape = graph.type(node).shape});
  body.results = {op.out};
  body.field = emission_of(info).field;
  if (body.field == Field::kIndex) body.choices = graph.signature(node).choices;
  if (info.name == "lookup") body.kind = Body::Kind::kLookup;
  body.name = name_of_op(body, info);
  body.ops.push_back(std::move(op));
  return body;
}

}  // namespace

std::string Body::key() const {
  std::string text = fmt::format("{}:{}:{}:{}", static_cast<int>(kind), static_cast<int>(field), choices, ragged);
  for (const Shape& shape : operands) text += " in" + shape.to_string();
  for (const Shared& each : shared) text += fmt::format(" with \"{}\"{}", each.name, each.shape.to_string());
  for (const BodyValue& value : values)
    text += fmt::format(" {}/{}{}", value.operand, value.shared, value.shape.to_string());
  for (const BodyOp& op : ops) {
    text += fmt::format(" {}[{}]({})", op.info == nullptr ? "columns" : op.info->name, hex(op.attrs),
                        fmt::join(op.in, ","));
    for (const std::byte byte : op.fields) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    text += fmt::format(":{}:{}:{}:{}", op.parts, op.plus, op.offset, op.out);
  }
  for (const std::int32_t value : results) text += fmt::format(" out{}", value);
  return text;
}

Body body_of(const Graph& graph, NodeId node) {
  const OpInfo& info = *graph.signature(node).info;
  require_exportable(graph, node);
  if (info.kind != Kind::kCell) return op_body(graph, node);
  return CellReader(graph, cells::program_of(graph.attrs(node)), graph.inputs(node)).read();
}

Body row_body(const Shape& shape) {
  Body body;
  body.kind = Body::Kind::kRow;
  body.field = Field::kRow;
  body.name = fmt::format("row[{}]", shape.elements());
  body.values = {{.shape = Shape{shape.elements()}}};
  body.results = {0};
  return body;
}

Body shared_body(const Graph& graph, NodeId node) {
  Body body;
  body.kind = Body::Kind::kShared;
  body.shared = {shared_of(graph, node)};
  body.name = fmt::format("shared({})", body.shared[0].name);
  body.values = {{.shape = graph.type(node).shape}};
  body.results = {0};
  return body;
}

bool RecursionView::is_recursion(const Graph& graph, NodeId node) {
  const OpInfo& info = *graph.signature(node).info;
  return info.kind == Kind::kCell && info.takes_whole;
}

RecursionView::RecursionView(const Graph& graph, NodeId node) : graph_(graph), node_(node) {}

Body RecursionView::body(std::int32_t kind) const {
  const cells::RecursionProgram& program = cells::recursion_of(graph_.attrs(node_)).kinds()[at(kind)];
  std::vector<NodeId> inputs(program.inputs.size());  // stacked ones, which are not asked for
  for (const std::size_t parameter : program.parameters) inputs.push_back(graph_.inputs(node_)[parameter]);
  return CellReader(graph_, *program.program, inputs).read();
}

std::size_t RecursionView::parts() const { return cells::recursion_of(graph_.attrs(node_)).parts(); }
const Shape& RecursionView::state(std::size_t part) const {
  return cells::recursion_of(graph_.attrs(node_)).state(part);
}

RecursionView::Row RecursionView::row(std::int64_t r) const {
  const auto* field = static_cast<const std::int32_t*>(graph_.fields(node_, r));
  const cells::CompiledRecursion& compiled = cells::recursion_of(graph_.attrs(node_));
  return {.kind = field[cells::RowField::kKind],
          .height = field[cells::RowField::kHeight],
          .x = field[cells::RowField::kX],
          .children = {field + cells::RowField::kFirstChild, at(compiled.most_children())}};
}

std::vector<RecursionView::Source> RecursionView::sources(std::int32_t kind) const {
  std::vector<Source> sources;
  for (const cells::RecursionInput& input : cells::recursion_of(graph_.attrs(node_)).kinds()[at(kind)].inputs)
    sources.push_back({input.child == cells::RecursionInput::kX ? -1 : input.child, input.part});
  return sources;
}

}  // namespace espalier::onnx
