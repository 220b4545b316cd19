#include "espalier/onnx/write_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/base/files.h"

namespace espalier::onnx {
namespace {

std::string state_name(std::int64_t width) { return fmt::format("state.{}", width); }

std::vector<std::int64_t> dims_of(const Shape& shape) {
  std::vector<std::int64_t> dims;
  dims.reserve(at(shape.rank()));
  for (std::int32_t a = 0; a < shape.rank(); ++a) dims.push_back(shape[a]);
  return dims;
}

/// Outside of rows, the name that no other tensor has.
std::string prefixed(const std::string& name) { return "weight." + name; }

/// Writes the ops of one body.
class BodyWriter {
 public:
  BodyWriter(Emitter& to, const Body& body, Names values) : to_(to), body_(body), values_(std::move(values)) {}

  /// `field` is that of the only op, if it has one.
  void add(const BodyOp& op, const std::string& field, const std::string& segments, const std::string& counts) {
    if (shape(op.out).elements() == 0)
      throw UsageError(fmt::format("onnx: {} cannot be exported: one of its values has no elements", body_.name));
    std::string& out = values_[at(op.out)];
    if (op.info == nullptr) {
      out = columns(op);
      return;
    }
    const Emission& emission = emission_of(*op.info);
    Use use;
    use.attrs = op.attrs;
    use.y = shape(op.out);
    for (const std::int32_t value : op.in) use.x.push_back({values_[at(value)], shape(value), is_shared(value)});
    use.field = field;
    if (emission.field == Field::kNumber && field.empty()) {
      double number = 0;
      std::memcpy(&number, op.fields.data(), sizeof(number));
      use.field = to_.number(number);
      use.field_is_shared = true;
    }
    use.segments = segments;
    use.counts = counts;
    if (op.parts > 1) join_parts(use, op.parts);
    repeat_shared(use, emission.shared);
    out = op.plus < 0 ? emission.emit(to_, use) : added(*op.info, emission, use, values_[at(op.plus)]);
  }

  const std::string& value(std::int32_t number) const { return values_[at(number)]; }
  const Shape& shape(std::int32_t number) const { return body_.values[at(number)].shape; }

 private:
  bool is_shared(std::int32_t value) const { return body_.values[at(value)].shared >= 0; }

  /// Gives operands that are one tensor for all rows as rows, where the op takes only these.
  void repeat_shared(Use& use, std::uint32_t may_be_shared) {
    std::string rows;
    for (std::size_t i = 0; i < use.x.size(); ++i) {
      Given& x = use.x[i];
      if (!x.shared || (i < 32 && (may_be_shared >> i & 1U) != 0)) continue;
      if (rows.empty()) {
        const auto stacked = std::find_if(use.x.begin(), use.x.end(), [](const Given& each) { return !each.shared; });
        if (stacked == use.x.end()) throw InternalError("onnx: an op of a cell has no operand with rows");
        rows = to_.op("Shape", {stacked->name}, {attribute("end", std::int64_t{1})});
      }
      const std::vector<std::int64_t> dims = dims_of(x.shape);
      x.name = to_.op("Expand", {x.name, dims.empty() ? rows : to_.concat({rows, to_.ints(dims)}, 0)});
      x.shared = false;
    }
  }
  std::string columns(const BodyOp& op) {
    const Shape& from = shape(op.in[0]);
    const Shape& to = shape(op.out);
    std::string x = to_.flat(values_[at(op.in[0])], from);
    if (op.offset != 0 || to.elements() != from.elements()) x = to_.slice(x, op.offset, op.offset + to.elements(), 1);
    return to_.reshape(x, Shape{to.elements()}, to);
  }
  void join_parts(Use& use, std::int32_t parts) {
    Names names;
    std::int64_t width = 0;
    for (std::int32_t p = 0; p < parts; ++p) {
      names.push_back(to_.flat(use.x[at(p)].name, use.x[at(p)].shape));
      width += use.x[at(p)].shape.elements();
    }
    use.x.erase(use.x.begin(), use.x.begin() + parts);
    use.x.insert(use.x.begin(), {to_.concat(names, 1), Shape{width}, false});
  }
  /// x W + plus, as one operation where it has no other bias.
  std::string added(const OpInfo& info, const Emission& emission, const Use& use, const std::string& plus) {
    if (info.name == "linear" && use.x[1].shared) return to_.op("Gemm", {use.x[0].name, use.x[1].name, plus});
    return to_.op("Add", {emission.emit(to_, use), plus});
  }

  Emitter& to_;
  const Body& body_;
  Names values_;
};

}  // namespace

GraphWriter::GraphWriter(Graph& graph, const Format& format, std::span<const Body> bodies,
                         std::span<const Parameter* const> also)
    : graph_(graph), format_(format), bodies_(bodies) {
  for (const Body& body : bodies_)
    for (const Shared& shared : body.shared) add_weight(shared);
  for (const Parameter* parameter : also) add_parameter(*parameter);
}

std::string GraphWriter::weight_name(const Shared& shared) const { return prefixed(shared.name); }

void GraphWriter::add_parameter(const Parameter& parameter) {
  if (parameter.is_destroyed())
    throw UsageError(fmt::format("onnx: the Model of parameter \"{}\" was destroyed", parameter.name()));
  if (parameter.value().dtype() != DType::kFloat32)
    throw UsageError(fmt::format("onnx: parameter \"{}\" is {}, and files are of float32", parameter.name(),
                                 name_of(parameter.value().dtype())));
  const auto [place, is_new] = weights_.try_emplace(prefixed(parameter.name()));
  if (is_new) place->second.parameter = &parameter;
  if (place->second.parameter != &parameter)
    throw UsageError(fmt::format("onnx: two parameters are called \"{}\"", parameter.name()));
}

void GraphWriter::add_weight(const Shared& shared) {
  if (shared.parameter != nullptr) return add_parameter(*shared.parameter);
  const auto [place, is_new] = weights_.try_emplace(weight_name(shared));
  if (is_new) place->second.computed = graph_.expr(shared.node).value();
}

/// The part of the schedule that belongs to this step, cut into its pieces.
Names GraphWriter::take_pieces(Emitter& to) {
  const std::string step = to.op("Reshape", {"step", to.ints({1})});
  const std::string lengths = to.op("Gather", {std::string(kLengths), "step"}, {attribute("axis", std::int64_t{0})});
  const std::string part = to.op("Slice", {std::string(kSchedule), to.op("Gather", {"begins", step}),
                                           to.op("Gather", {"ends", step}), to.ints({0})});
  Names pieces;
  for (std::size_t p = 0; p < format_.pieces(); ++p) pieces.push_back(fmt::format("piece.{}", p));
  to.op_to(pieces, "Split", {part, lengths}, {attribute("axis", std::int64_t{0})});
  return pieces;
}

Names GraphWriter::emit_signature(Emitter& to, std::size_t number, std::span<const std::string> pieces,
                                  const Names& states) {
  const Body& body = bodies_[number];
  const std::vector<std::string> axis{attribute("axis", std::int64_t{0})};
  switch (body.kind) {
    case Body::Kind::kRow: return {to.op("Gather", {rows_name(body.result(0).elements()), pieces[0]}, axis)};
    case Body::Kind::kLookup: {
      const std::string row = to.op("Gather", {weight_name(body.shared[0]), pieces[0]}, axis);
      return {to.flat(row, body.result(0))};
    }
    case Body::Kind::kShared: {
      std::vector<std::int64_t> one{1, body.result(0).elements()};
      return {to.op("Gather", {to.op("Reshape", {weight_name(body.shared[0]), to.ints(one)}), pieces[0]}, axis)};
    }
    case Body::Kind::kCode: return emit_code(to, number, pieces, states);
  }
  return {};
}

Names GraphWriter::emit_code(Emitter& to, std::size_t number, std::span<const std::string> pieces,
                             const Names& states) {
  const Body& body = bodies_[number];
  const std::vector<std::string> axis{attribute("axis", std::int64_t{0})};
  Names values(body.values.size());
  for (std::size_t v = 0; v < body.values.size(); ++v) {
    const BodyValue& value = body.values[v];
    if (value.shared >= 0) values[v] = weight_name(body.shared[at(value.shared)]);
    if (value.operand < 0) continue;
    const std::int64_t width = value.shape.elements();
    const std::string rows = to.op("Gather", {states[format_.place_of(width)], pieces[at(value.operand)]}, axis);
    values[v] = to.reshape(rows, Shape{width}, value.shape);
  }
  std::string field;
  if (body.field != Field::kNone) field = pieces[body.operands.size()];
  if (body.field == Field::kNumber) field = to.op("Gather", {std::string(kNumbers), field}, axis);
  BodyWriter writer(to, body, std::move(values));
  for (const BodyOp& op : body.ops)
    writer.add(op, field, body.ragged ? pieces[1] : std::string(), body.ragged ? pieces[2] : std::string());
  Names results;
  for (const std::int32_t result : body.results) results.push_back(to.flat(writer.value(result), writer.shape(result)));
  return results;
}

/// One step: new states from the states before.
std::string GraphWriter::loop_body() {
  Emitter to(constants_, "in.");
  const Names pieces = take_pieces(to);
  Names states;
  std::vector<Names> parts;
  for (std::size_t c = 0; c < format_.widths.size(); ++c) {
    states.push_back(state_name(format_.widths[c]));
    parts.push_back({to.op("Gather", {states[c], pieces[c]}, {attribute("axis", std::int64_t{0})})});
  }
  std::size_t next = format_.widths.size();
  for (std::size_t s = 0; s < format_.signatures.size(); ++s) {
    const SignatureFormat& signature = format_.signatures[s];
    const Names results = emit_signature(to, s, std::span(pieces).subspan(next, signature.pieces()), states);
    for (std::size_t k = 0; k < results.size(); ++k)
      parts[format_.place_of(signature.results[k])].push_back(results[k]);
    next += signature.pieces();
  }
  to.op_to({"more.next"}, "Identity", {"more"});
  for (std::size_t c = 0; c < parts.size(); ++c)
    to.op_to({states[c] + ".next"}, "Concat", parts[c], {attribute("axis", std::int64_t{0})});

  data::ProtoWriter body;
  for (const std::string& node : to.nodes()) body.bytes(1, node);
  body.bytes(2, "step");
  body.bytes(11, value_info("step", ElementType::kInt64, {}));
  body.bytes(11, value_info("more", ElementType::kBool, {}));
  body.bytes(12, value_info("more.next", ElementType::kBool, {}));
  for (std::size_t c = 0; c < states.size(); ++c) {
    const std::int64_t width = format_.widths[c];
    body.bytes(11, value_info(states[c], ElementType::kFloat, {fmt::format("rows_before.{}", width), width}));
    body.bytes(12, value_info(states[c] + ".next", ElementType::kFloat, {fmt::format("rows_after.{}", width), width}));
  }
  return body.finish();
}

std::string GraphWriter::graph_message(const std::vector<std::string>& tensors) {
  Emitter& to = outer_;
  const std::string totals = to.reduce("ReduceSum", std::string(kLengths), {1});
  to.op_to({"ends"}, "CumSum", {totals, to.int_scalar(0)});
  to.op_to({"begins"}, "Sub", {"ends", totals});
  const std::string steps = to.op("Gather", {to.op("Shape", {std::string(kLengths)}), to.int_scalar(0)});
  Names inputs{steps, ""};
  Names lasts;
  for (const std::int64_t width : format_.widths) {
    inputs.push_back(to.op("ConstantOfShape", {to.ints({0, width})}));
    lasts.push_back(state_name(width) + ".last");
  }
  to.op_to(lasts, "Loop", inputs, {graph_attribute("body", loop_body())});
  for (const OutputFormat& output : format_.outputs) {
    const std::int64_t width = output.shape.elements();
    const std::string rows = to.op("Gather", {lasts[format_.place_of(width)], output_rows_name(output.name)},
                                   {attribute("axis", std::int64_t{0})});
    to.op_to({output.name}, "Identity", {to.reshape(rows, Shape{width}, output.shape)});
  }

  data::ProtoWriter graph;
  for (const std::string& node : to.nodes()) graph.bytes(1, node);
  graph.bytes(2, "espalier");
  for (const std::string& each : tensors) graph.bytes(5, each);
  for (const std::string& each : constants_.tensors()) graph.bytes(5, each);
  const auto pieces = static_cast<std::int64_t>(format_.pieces());
  graph.bytes(11, value_info(kLengths, ElementType::kInt64, {"steps", pieces}));
  graph.bytes(11, value_info(kSchedule, ElementType::kInt64, {"schedule_length"}));
  for (const std::int64_t width : format_.row_widths)
    graph.bytes(11, value_info(rows_name(width), ElementType::kFloat, {fmt::format("input_rows.{}", width), width}));
  if (format_.has_numbers) graph.bytes(11, value_info(kNumbers, ElementType::kFloat, {"number_count"}));
  for (const OutputFormat& output : format_.outputs) {
    const std::string count = "rows_of." + output.name;
    graph.bytes(11, value_info(output_rows_name(output.name), ElementType::kInt64, {count}));
    std::vector<Dim> dims{count};
    for (const std::int64_t size : dims_of(output.shape)) dims.emplace_back(size);
    graph.bytes(12, value_info(output.name, ElementType::kFloat, dims));
  }
  return graph.finish();
}

void GraphWriter::write(const std::filesystem::path& path, const WriteOptions& options) {
  std::int64_t bytes = 0;
  for (const auto& [name, weight] : weights_) bytes += static_cast<std::int64_t>(weight.value().bytes());
  const bool is_outside = bytes > options.most_inside;
  const std::filesystem::path beside = path.string() + ".data";
  std::optional<AtomicFile> outside;
  if (is_outside) outside.emplace(beside);
  std::vector<std::string> tensors;
  std::int64_t offset = 0;
  for (const auto& [name, weight] : weights_) {
    const Tensor& value = weight.value();
    const std::string_view raw(reinterpret_cast<const char*>(value.data()), value.bytes());
    const std::vector<std::int64_t> dims = dims_of(value.shape());
    if (!is_outside) {
      tensors.push_back(tensor(name, ElementType::kFloat, dims, raw));
      continue;
    }
    tensors.push_back(outside_tensor(name, ElementType::kFloat, dims, beside.filename().string(), offset,
                                     static_cast<std::int64_t>(raw.size())));
    outside->write(raw);
    offset += static_cast<std::int64_t>(raw.size());
  }

  data::ProtoWriter model;
  model.integer(1, kIrVersion).bytes(2, "espalier");
  model.bytes(7, graph_message(tensors));
  model.bytes(8, data::ProtoWriter().bytes(1, "").integer(2, kOpset).finish());
  model.bytes(14, metadata_entry(kScheduleEntry, format_.to_value().to_text()));
  for (const auto& [key, value] : options.metadata) model.bytes(14, metadata_entry(key, value));
  if (outside) outside->commit();
  write_file_atomically(path, model.finish());
}

}  // namespace espalier::onnx
