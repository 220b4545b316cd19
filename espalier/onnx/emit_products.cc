/// The ONNX forms of products.
#include <array>

#include "espalier/onnx/emissions.h"
#include "espalier/onnx/use-inl.h"
#include "espalier/ops/all.h"

namespace espalier::onnx {
namespace {

/// x W of vectors, whether or not all rows share W.
std::string row_product(Emitter& to, const Given& x, const Given& W) {
  if (W.shared && !x.shared) return to.op("MatMul", {x.name, W.name});
  const Shape row{1, x.shape[0]};
  const std::string as_matrix =
      x.shared ? to.op("Reshape", {x.name, to.ints({1, x.shape[0]})}) : to.reshape(x.name, x.shape, row);
  const std::string y = to.op("MatMul", {as_matrix, W.name});
  return to.reshape(y, Shape{1, W.shape[1]}, Shape{W.shape[1]});
}

std::string linear(Emitter& to, const Use& use) { return row_product(to, use.x[0], use.x[1]); }

std::string affine(Emitter& to, const Use& use) {
  if (use.x[1].shared && use.x[2].shared) return to.op("Gemm", {use.x[0].name, use.x[1].name, use.x[2].name});
  return to.op("Add", {row_product(to, use.x[0], use.x[1]), use.x[2].name});
}

/// A shared A is repeated: ONNX Runtime 1.31 refuses one beside a B of no rows.
std::string matmul(Emitter& to, const Use& use) { return to.op("MatMul", {use.x[0].name, use.x[1].name}); }

std::string matvec(Emitter& to, const Use& use) {
  if (use.x[0].shared) return to.op("Gemm", {use.x[1].name, use.x[0].name}, {attribute("transB", std::int64_t{1})});
  const std::string column = to.reshape(use.x[1].name, use.x[1].shape, use.x[1].shape.inserted(1, 1));
  return to.reshape(to.op("MatMul", {use.x[0].name, column}), use.y.inserted(1, 1), use.y);
}

/// x W as a matrix [m, j] per row, then times z.
std::string bilinear(Emitter& to, const Use& use) {
  const Given& W = use.x[1];
  const std::int64_t m = W.shape[1];
  const std::int64_t j = W.shape[2];
  const Shape as_matrix{W.shape[0], m * j};
  const std::string weights = W.shared ? to.op("Reshape", {W.name, to.ints({as_matrix[0], as_matrix[1]})})
                                       : to.reshape(W.name, W.shape, as_matrix);
  const std::string xw = row_product(to, use.x[0], {weights, as_matrix, W.shared});
  const std::string z = to.reshape(use.x[2].name, use.x[2].shape, use.x[2].shape.inserted(1, 1));
  const std::string y = to.op("MatMul", {to.reshape(xw, Shape{m * j}, Shape{m, j}), z});
  return to.reshape(y, Shape{m, 1}, Shape{m});
}

/// The windows side by side, then one product.
std::string conv1d(Emitter& to, const Use& use) {
  const Shape& x = use.x[0].shape;
  const Given& W = use.x[1];
  const std::int64_t width = W.shape[0] / x[1];
  std::string padded = use.x[0].name;
  if (use.attrs_as<ops::Conv1d::Attrs>().padding == Padding::kSame && width > 1)
    padded = to.op("Pad", {padded, to.ints({0, (width - 1) / 2, 0, 0, width / 2, 0})});
  Names windows;
  for (std::int64_t w = 0; w < width; ++w) windows.push_back(to.slice(padded, w, w + use.y[0], 1));
  return to.op("MatMul", {to.concat(windows, 2), W.name});
}

/// `shared`: operands that may be one tensor for all rows.
constexpr Emission written_product(std::string_view op, std::string (*emit)(Emitter&, const Use&),
                                   std::uint32_t shared) {
  return {.op = op, .emit = emit, .shared = shared};
}

}  // namespace

std::span<const Emission> product_emissions() {
  static constexpr std::array kEmissions{
      written_product("linear", linear, 0b10),      written_product("affine", affine, 0b110),
      written_product("matmul", matmul, 0b10),      written_product("matvec", matvec, 0b01),
      written_product("bilinear", bilinear, 0b010), written_product("conv1d", conv1d, 0b10),
  };
  return kEmissions;
}

}  // namespace espalier::onnx
