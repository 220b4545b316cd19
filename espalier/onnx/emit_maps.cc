/// The ONNX forms of maps: elementwise, whatever the shape.
#include <array>
#include <cmath>
#include <cstring>

#include "espalier/onnx/emissions.h"
#include "espalier/onnx/use-inl.h"
#include "espalier/ops/all.h"

namespace espalier::onnx {
namespace {

template <const char* kType>
std::string same(Emitter& to, const Use& use) {
  Names inputs;
  for (const Given& x : use.x) inputs.push_back(x.name);
  return to.op(kType, inputs);
}

constexpr char kAdd[] = "Add";
constexpr char kSub[] = "Sub";
constexpr char kMul[] = "Mul";
constexpr char kDiv[] = "Div";
constexpr char kNeg[] = "Neg";
constexpr char kReciprocal[] = "Reciprocal";
constexpr char kTanh[] = "Tanh";
constexpr char kSigmoid[] = "Sigmoid";
constexpr char kRelu[] = "Relu";
constexpr char kSoftplus[] = "Softplus";
constexpr char kExp[] = "Exp";
constexpr char kLog[] = "Log";
constexpr char kSqrt[] = "Sqrt";
constexpr char kAbs[] = "Abs";

/// The numbers of a field, such that they are multiplied with x row by row.
std::string field_beside(Emitter& to, const Use& use) {
  if (use.field_is_shared) return use.field;
  Shape ones;
  for (std::int32_t a = 0; a < use.x[0].shape.rank(); ++a) ones = ones.inserted(a, 1);
  return to.reshape(use.field, Shape{}, ones);
}

std::string mul_add(Emitter& to, const Use& use) {
  return to.op("Add", {to.op("Mul", {use.x[0].name, use.x[1].name}), use.x[2].name});
}
std::string scale(Emitter& to, const Use& use) { return to.op("Mul", {use.x[0].name, field_beside(to, use)}); }
std::string shift(Emitter& to, const Use& use) { return to.op("Add", {use.x[0].name, field_beside(to, use)}); }
std::string one_minus(Emitter& to, const Use& use) { return to.op("Sub", {to.number(1), use.x[0].name}); }
std::string square(Emitter& to, const Use& use) { return to.op("Mul", {use.x[0].name, use.x[0].name}); }
std::string silu(Emitter& to, const Use& use) {
  return to.op("Mul", {use.x[0].name, to.op("Sigmoid", {use.x[0].name})});
}
std::string leaky_relu(Emitter& to, const Use& use) {
  return to.op("LeakyRelu", {use.x[0].name},
               {attribute("alpha", static_cast<float>(use.attrs_as<ops::LeakyReluAttrs>().slope))});
}
std::string elu(Emitter& to, const Use& use) {
  return to.op("Elu", {use.x[0].name}, {attribute("alpha", static_cast<float>(use.attrs_as<ops::EluAttrs>().alpha))});
}
std::string gelu(Emitter& to, const Use& use) {
  const std::string erf = to.op("Erf", {to.op("Mul", {use.x[0].name, to.number(std::sqrt(0.5))})});
  return to.op("Mul", {to.op("Mul", {use.x[0].name, to.number(0.5)}), to.op("Add", {erf, to.number(1)})});
}
std::string clamp(Emitter& to, const Use& use) {
  const auto attrs = use.attrs_as<ops::ClampAttrs>();
  return to.op("Clip", {use.x[0].name, to.number(attrs.low), to.number(attrs.high)});
}
std::string pow(Emitter& to, const Use& use) {
  return to.op("Pow", {use.x[0].name, to.number(use.attrs_as<ops::PowAttrs>().exponent)});
}
std::string where(Emitter& to, const Use& use) {
  return to.op("Where", {to.op("Greater", {use.x[0].name, to.number(0)}), use.x[1].name, use.x[2].name});
}

/// Any operand of a map may be one tensor for all rows: it is repeated as ONNX broadcasts.
constexpr Emission written_map(std::string_view op, std::string (*emit)(Emitter&, const Use&),
                               Field field = Field::kNone) {
  return {.op = op, .emit = emit, .field = field, .shared = ~0U};
}

}  // namespace

std::span<const Emission> map_emissions() {
  static constexpr std::array kEmissions{
      written_map("add", same<kAdd>),
      written_map("sub", same<kSub>),
      written_map("mul", same<kMul>),
      written_map("div", same<kDiv>),
      written_map("negate", same<kNeg>),
      written_map("reciprocal", same<kReciprocal>),
      written_map("tanh", same<kTanh>),
      written_map("sigmoid", same<kSigmoid>),
      written_map("relu", same<kRelu>),
      written_map("softplus", same<kSoftplus>),
      written_map("exp", same<kExp>),
      written_map("log", same<kLog>),
      written_map("sqrt", same<kSqrt>),
      written_map("abs", same<kAbs>),
      written_map("mul_add", mul_add),
      written_map("scale", scale, Field::kNumber),
      written_map("shift", shift, Field::kNumber),
      written_map("one_minus", one_minus),
      written_map("square", square),
      written_map("silu", silu),
      written_map("leaky_relu", leaky_relu),
      written_map("elu", elu),
      written_map("gelu", gelu),
      written_map("clamp", clamp),
      written_map("pow", pow),
      written_map("where", where),
  };
  return kEmissions;
}

}  // namespace espalier::onnx
