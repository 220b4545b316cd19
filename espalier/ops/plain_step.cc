#include "espalier/ops/plain_step.h"

#include <algorithm>

namespace espalier::ops {
namespace {

/// The operands of row r, as plain code wants them.
struct RowOfStep {
  std::vector<std::span<const float>> values;
  std::vector<Shape> shapes;

  void read(const StepIn& in, std::int64_t r) {
    values.clear();
    shapes.clear();
    auto add = [&](const ConstRows& rows, std::int64_t row, const Shape& shape) {
      values.emplace_back(rows[row], static_cast<std::size_t>(rows.width));
      shapes.push_back(shape);
    };
    if (in.offsets != nullptr)
      for (std::int64_t row = in.offsets[r]; row < in.offsets[r + 1]; ++row) add(in[0], row, in.shape(0));
    else
      for (std::size_t i = 0; i < in.size(); ++i) add(in[i], r, in.shape(i));
  }
};

}  // namespace

void plain_forward(PlainFunction<float> plain, const void* attrs, const StepIn& in, const StepOut& out) {
  RowOfStep row;
  for (std::int64_t r = 0; r < in.rows; ++r) {
    row.read(in, r);
    plain(attrs, in.fields_data + r * in.fields_stride, PlainIn<float>{row.values, row.shapes, *in.out},
          {out.y[r], static_cast<std::size_t>(out.y.width)});
  }
}

template <class T>
void plain_gradient(PlainFunction<ad::Var> plain, const void* attrs, const void* fields, const PlainIn<T>& in,
                    std::span<const T> dy, std::span<const std::span<T>> gradients) {
  ad::Tape& tape = ad::Tape::local();
  tape.clear();
  std::vector<std::vector<ad::Var>> variables(in.size());
  std::vector<std::span<const ad::Var>> views;
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (T value : in[i])
      variables[i].push_back(gradients[i].empty() ? ad::Var(static_cast<double>(value))
                                                  : ad::Var::independent(static_cast<double>(value)));
    views.emplace_back(variables[i]);
  }
  std::vector<ad::Var> y(dy.size());
  plain(attrs, fields, PlainIn<ad::Var>{views, in.shapes, in.out}, y);

  std::vector<double> grad(tape.size(), 0.0);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (y[i].entry >= 0) grad[static_cast<std::size_t>(y[i].entry)] += static_cast<double>(dy[i]);
  tape.propagate(grad);
  for (std::size_t i = 0; i < in.size(); ++i)
    for (std::size_t j = 0; j < gradients[i].size(); ++j)
      gradients[i][j] += static_cast<T>(grad[static_cast<std::size_t>(variables[i][j].entry)]);
}

template void plain_gradient<float>(PlainFunction<ad::Var>, const void*, const void*, const PlainIn<float>&,
                                    std::span<const float>, std::span<const std::span<float>>);
template void plain_gradient<double>(PlainFunction<ad::Var>, const void*, const void*, const PlainIn<double>&,
                                     std::span<const double>, std::span<const std::span<double>>);

void plain_backward(PlainFunction<ad::Var> plain, const void* attrs, const Saved& saved, Grads& grads) {
  RowOfStep row;
  std::vector<std::span<float>> targets;
  const bool ragged = saved.in.offsets != nullptr;
  for (std::int64_t r = 0; r < saved.in.rows; ++r) {
    row.read(saved.in, r);
    targets.clear();
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const GradRows& into = grads[ragged ? 0 : i];
      targets.push_back(!into    ? std::span<float>()
                        : ragged ? into.open(saved.in.offsets[r] + static_cast<std::int64_t>(i))
                                 : into.open(r));
    }
    plain_gradient<float>(plain, attrs, saved.in.fields_data + r * saved.in.fields_stride,
                          PlainIn<float>{row.values, row.shapes, *saved.in.out},
                          {saved.dy[r], static_cast<std::size_t>(saved.dy.width)}, targets);
  }
}

}  // namespace espalier::ops
