// The first product of a program, run for many steps at once.
#include "espalier/base/at.h"
#include "espalier/cells/program.h"
#include "espalier/ops/weight_product.h"

namespace espalier::cells {
namespace {

/// The weights of the product that a program hoists, and where its bias is, or null.
ops::Weights hoisted_weights(const Program& program, const StepIn& in, const float*& bias) {
  const Instruction& product = program.instructions()[0];
  const Value& matrix = program.value(product.in[1]);
  const auto shared = at(matrix.shared);
  bias = product.in.size() > 2 ? in.inputs[at(program.value(product.in[2]).shared)].data : nullptr;
  return {in.inputs[shared].data, matrix.shape[0], matrix.shape[1], in.parameter(shared), in.use};
}

}  // namespace

void multiply_hoisted(const Program& program, const StepIn& in, const Rows& y) {
  const float* bias = nullptr;
  const ops::Weights W = hoisted_weights(program, in, bias);
  ops::multiply_by_weights(in[0], W, bias, y, /*accumulate=*/false);
}

void multiply_hoisted_backward(const Program& program, const StepIn& in, const ConstRows& dy, const GradRows& dx) {
  const float* bias = nullptr;
  ops::multiply_by_transposed(dy, hoisted_weights(program, in, bias), dx.rows(), !dx.stores());
}

}  // namespace espalier::cells
