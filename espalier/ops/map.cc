#include "espalier/ops/map.h"

namespace espalier::ops {
namespace {

constexpr std::size_t kMostInputs = 2;

bool all_dense(const StepIn& in) {
  for (const ConstRows& rows : in.inputs)
    if (!rows.dense()) return false;
  return true;
}

}  // namespace

void map_forward(const MapKernel& kernel, const void* attrs, const StepIn& in, const StepOut& out) {
  std::array<const float*, kMostInputs> x{};
  const bool at_once = in.fields_stride == 0 && out.y.dense() && all_dense(in);
  const std::int64_t calls = at_once ? 1 : in.rows;
  const std::int64_t elements = at_once ? in.rows * out.y.width : out.y.width;
  for (std::int64_t r = 0; r < calls; ++r) {
    for (std::size_t k = 0; k < kernel.arity; ++k) x[k] = in[k][r];
    kernel.forward(attrs, in.fields_data + r * in.fields_stride, elements, x.data(), out.y[r]);
  }
}

void map_backward(const MapKernel& kernel, const void* attrs, const Saved& saved, Grads& grads) {
  const StepIn& in = saved.in;
  bool at_once = in.fields_stride == 0 && saved.dy.dense() && saved.y.dense() && all_dense(in);
  std::array<bool, kMostInputs> store{};
  for (std::size_t k = 0; k < kernel.arity; ++k) {
    store[k] = grads[k].stores();
    if (grads[k]) at_once = at_once && grads[k].rows().dense();
  }
  std::array<const float*, kMostInputs> x{};
  std::array<float*, kMostInputs> dx{};
  const std::int64_t calls = at_once ? 1 : in.rows;
  const std::int64_t elements = at_once ? in.rows * saved.dy.width : saved.dy.width;
  for (std::int64_t r = 0; r < calls; ++r) {
    for (std::size_t k = 0; k < kernel.arity; ++k) {
      x[k] = in[k][r];
      dx[k] = grads[k] ? grads[k].rows()[r] : nullptr;
    }
    kernel.backward(attrs, in.fields_data + r * in.fields_stride, elements, x.data(), saved.y[r], saved.dy[r],
                    dx.data(), store.data());
  }
}

}  // namespace espalier::ops
