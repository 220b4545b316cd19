/// The ONNX forms of ops whose elements become fewer or depend on each other.
#include <array>
#include <limits>

#include "espalier/onnx/emissions.h"
#include "espalier/onnx/use-inl.h"
#include "espalier/ops/all.h"

namespace espalier::onnx {
namespace {

// --- losses
// ------------------------------------------------------------------------------------------------------------

std::string mean_of_all(Emitter& to, const std::string& x, const Shape& shape) {
  return to.reduce("ReduceMean", to.flat(x, shape), {1});
}
std::string sum_of_all(Emitter& to, const std::string& x, const Shape& shape) {
  return to.reduce("ReduceSum", to.flat(x, shape), {1});
}
std::string difference(Emitter& to, const Use& use) { return to.op("Sub", {use.x[0].name, use.x[1].name}); }

std::string mse(Emitter& to, const Use& use) {
  const std::string d = difference(to, use);
  return mean_of_all(to, to.op("Mul", {d, d}), use.x[0].shape);
}
std::string squared_distance(Emitter& to, const Use& use) {
  const std::string d = difference(to, use);
  return sum_of_all(to, to.op("Mul", {d, d}), use.x[0].shape);
}
std::string huber(Emitter& to, const Use& use) {
  const double delta = use.attrs_as<ops::Huber::Attrs>().delta;
  const std::string d = to.op("Abs", {difference(to, use)});
  const std::string near = to.op("Mul", {to.op("Mul", {d, d}), to.number(0.5)});
  const std::string far = to.op("Mul", {to.op("Sub", {d, to.number(0.5 * delta)}), to.number(delta)});
  const std::string is_far = to.op("Greater", {d, to.number(delta)});
  return mean_of_all(to, to.op("Where", {is_far, far, near}), use.x[0].shape);
}
std::string binary_cross_entropy(Emitter& to, const Use& use) {
  const std::string product = to.op("Mul", {use.x[0].name, use.x[1].name});
  return mean_of_all(to, to.op("Sub", {to.op("Softplus", {use.x[0].name}), product}), use.x[0].shape);
}
/// Of each row of [n, classes], the element that its field says: [n, 1].
std::string picked(Emitter& to, const std::string& x, const Use& use) {
  const std::string column = to.reshape(use.field, Shape{}, Shape{1});
  return to.op("GatherElements", {x, column}, {attribute("axis", std::int64_t{1})});
}
std::string cross_entropy(Emitter& to, const Use& use) {
  const std::string log_softmax = to.op("LogSoftmax", {use.x[0].name}, {attribute("axis", std::int64_t{1})});
  return to.op("Neg", {to.reshape(picked(to, log_softmax, use), Shape{1}, Shape{})});
}
/// The sum over all, of which that of the label is the margin.
std::string hinge(Emitter& to, const Use& use) {
  const double margin = use.attrs_as<ops::Hinge::Attrs>().margin;
  const std::string above = to.op("Sub", {use.x[0].name, picked(to, use.x[0].name, use)});
  const std::string violations = to.op("Relu", {to.op("Add", {above, to.number(margin)})});
  return to.op("Sub", {to.reduce("ReduceSum", violations, {1}), to.number(margin)});
}
std::string pick(Emitter& to, const Use& use) { return to.reshape(picked(to, use.x[0].name, use), Shape{1}, Shape{}); }

// --- any number of operands
// --------------------------------------------------------------------------------------------

/// Rows of x that belong to a row of y, put together by a reduction that starts from `first`.
std::string scattered(Emitter& to, const Use& use, std::string_view reduction, double first) {
  const std::int64_t width = use.y.elements();
  const std::string x = to.flat(use.x[0].name, use.x[0].shape);
  const std::string shape = to.concat({to.op("Shape", {use.counts}), to.ints({width})}, 0);
  const std::string start = to.op("Expand", {to.number(first), shape});
  const std::string rows = to.reshape(use.segments, Shape{}, Shape{1});
  const std::string y = to.op("ScatterND", {start, rows, x}, {attribute("reduction", reduction)});
  return to.reshape(y, Shape{width}, use.y);
}
/// The same number for all rows.
std::string fixed(Emitter& to, const Use& use, std::string_view type) {
  Names names;
  for (const Given& x : use.x) names.push_back(x.name);
  return to.op(type, names);
}
std::string sum(Emitter& to, const Use& use) {
  return use.counts.empty() ? fixed(to, use, "Sum") : scattered(to, use, "add", 0);
}
std::string maximum(Emitter& to, const Use& use) {
  if (use.counts.empty()) return fixed(to, use, "Max");
  return scattered(to, use, "max", -std::numeric_limits<double>::infinity());
}
std::string minimum(Emitter& to, const Use& use) {
  if (use.counts.empty()) return fixed(to, use, "Min");
  return scattered(to, use, "min", std::numeric_limits<double>::infinity());
}
std::string mean(Emitter& to, const Use& use) {
  if (use.counts.empty()) return fixed(to, use, "Mean");
  const std::string counts =
      to.op("Cast", {use.counts}, {attribute("to", static_cast<std::int64_t>(ElementType::kFloat))});
  Shape ones;
  for (std::int32_t a = 0; a < use.y.rank(); ++a) ones = ones.inserted(a, 1);
  return to.op("Div", {sum(to, use), to.reshape(counts, Shape{}, ones)});
}

// --- axes
// --------------------------------------------------------------------------------------------------------------

template <const char* kType>
std::string over_axis(Emitter& to, const Use& use) {
  return to.reduce(kType, use.x[0].name, {1 + use.attrs_as<ops::AxisAttrs>().axis});
}
constexpr char kSum[] = "ReduceSum";
constexpr char kMean[] = "ReduceMean";
constexpr char kMax[] = "ReduceMax";
constexpr char kMin[] = "ReduceMin";

std::string dot(Emitter& to, const Use& use) {
  return to.reduce("ReduceSum", to.op("Mul", {use.x[0].name, use.x[1].name}), {1});
}
std::string l2_norm(Emitter& to, const Use& use) { return to.reduce("ReduceL2", use.x[0].name, {1}); }
std::string softmax(Emitter& to, const Use& use) {
  return to.op("Softmax", {use.x[0].name}, {attribute("axis", std::int64_t{-1})});
}
std::string log_softmax(Emitter& to, const Use& use) {
  return to.op("LogSoftmax", {use.x[0].name}, {attribute("axis", std::int64_t{-1})});
}
std::string logsumexp(Emitter& to, const Use& use) {
  return to.reduce("ReduceLogSumExp", use.x[0].name, {use.x[0].shape.rank()});
}
std::string layer_norm(Emitter& to, const Use& use) {
  const std::string centred = to.op("Sub", {use.x[0].name, to.reduce("ReduceMean", use.x[0].name, {1}, true)});
  const std::string variance = to.reduce("ReduceMean", to.op("Mul", {centred, centred}), {1}, true);
  const std::string deviation =
      to.op("Sqrt", {to.op("Add", {variance, to.number(use.attrs_as<ops::LayerNorm::Attrs>().epsilon)})});
  const std::string normal = to.op("Div", {centred, deviation});
  return to.op("Add", {to.op("Mul", {normal, use.x[1].name}), use.x[2].name});
}
/// A column of zeros stays one.
std::string weight_norm(Emitter& to, const Use& use) {
  const std::string length = to.reduce("ReduceL2", use.x[0].name, {1}, true);
  const std::string is_zero = to.op("Equal", {length, to.number(0)});
  const std::string divisor = to.op("Where", {is_zero, to.number(1), length});
  const Shape row{1, use.x[1].shape[0]};
  return to.op("Div", {to.op("Mul", {use.x[0].name, to.reshape(use.x[1].name, use.x[1].shape, row)}), divisor});
}
/// The last window is filled up with what is never the largest.
std::string max_pool(Emitter& to, const Use& use) {
  const std::int64_t window = use.attrs_as<ops::MaxPool::Attrs>().window;
  const std::int64_t missing = use.y[0] * window - use.x[0].shape[0];
  std::string x = use.x[0].name;
  if (missing > 0)
    x = to.op("Pad", {x, to.ints({0, 0, 0, 0, missing, 0}), to.number(-std::numeric_limits<double>::infinity())});
  const Shape whole{use.y[0] * window, use.y[1]};
  return to.reduce("ReduceMax", to.reshape(x, whole, Shape{use.y[0], window, use.y[1]}), {2});
}

// --- LSTMs
// -------------------------------------------------------------------------------------------------------------

std::string lstm_memory(Emitter& to, const Use& use) {
  std::string y = to.op("Mul", {to.op("Sigmoid", {use.x[0].name}), to.op("Tanh", {use.x[1].name})});
  for (std::size_t k = 2; k < use.x.size(); k += 2)
    y = to.op("Add", {y, to.op("Mul", {to.op("Sigmoid", {use.x[k].name}), use.x[k + 1].name})});
  return y;
}
std::string lstm_output(Emitter& to, const Use& use) {
  return to.op("Mul", {to.op("Sigmoid", {use.x[0].name}), to.op("Tanh", {use.x[1].name})});
}

}  // namespace

std::span<const Emission> reduce_emissions() {
  static constexpr std::array kEmissions{
      Emission{"mse", kWritten, mse},
      Emission{"squared_distance", kWritten, squared_distance},
      Emission{"huber", kWritten, huber},
      Emission{"binary_cross_entropy", kWritten, binary_cross_entropy},
      Emission{"cross_entropy", kWritten, cross_entropy, Field::kIndex},
      Emission{"hinge", kWritten, hinge, Field::kIndex},
      Emission{"pick", kWritten, pick, Field::kIndex},
      Emission{"sum", kWritten, sum},
      Emission{"mean", kWritten, mean},
      Emission{"maximum", kWritten, maximum},
      Emission{"minimum", kWritten, minimum},
      Emission{"sum_axis", kWritten, over_axis<kSum>},
      Emission{"mean_axis", kWritten, over_axis<kMean>},
      Emission{"max_axis", kWritten, over_axis<kMax>},
      Emission{"min_axis", kWritten, over_axis<kMin>},
      Emission{"dot", kWritten, dot},
      Emission{"l2_norm", kWritten, l2_norm},
      Emission{"softmax", kWritten, softmax},
      Emission{"log_softmax", kWritten, log_softmax},
      Emission{"logsumexp", kWritten, logsumexp},
      Emission{.op = "layer_norm", .emit = layer_norm, .shared = 0b110},
      Emission{"weight_norm", kWritten, weight_norm},
      Emission{"max_pool", kWritten, max_pool},
      Emission{"lstm_memory", kWritten, lstm_memory},
      Emission{"lstm_output", kWritten, lstm_output},
  };
  return kEmissions;
}

}  // namespace espalier::onnx
