#pragma once

#include <string>

#include "espalier/base/error.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Row {
  static constexpr std::string_view kName = "row";
  static constexpr std::string_view kContract =
      "y = one of the rows of x, by itself   x: [...], many rows   ->   y: [...]";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  static constexpr bool kTakesWhole = true;
  using Attrs = None;
  struct Fields {
    std::int32_t row = 0;
  };

  static std::int32_t reads_row(const Fields& fields) { return fields.row; }
  static Shape infer(const Attrs&, const InputShapes& in) { return in["x"]; }
  template <class T>
  static void plain(const Attrs&, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    const std::size_t begin = static_cast<std::size_t>(fields.row) * y.size();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][begin + i];
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r) std::copy_n(in[0][r], out.y.width, out.y[r]);
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    for (std::int64_t r = 0; r < saved.in.rows; ++r) grads[0].add(r, saved.dy[r]);
  }
  static Samples samples() {
    return {gives<Row>({Tensor({2}, {5, 6})}, Tensor({2}, {5, 6})), works_on<Row>({{}}), works_on<Row>({{2, 3}})};
  }
  static Refusals refusals() { return {}; }
};

}  // namespace ops

/// Row `number` of a node with many rows, as a node of its own. Refuses (UsageError) a number outside, and an x with a
/// single row.
inline Expr row(Operand x, std::int32_t number) {
  const OpInfo& info = ops::info_of<ops::Row>();
  Graph& graph = graph_of(info, {&x, 1});
  const auto refuse = [&](const std::string& sentence) {
    throw UsageError("row: " + sentence + "\n  at " + x.where().to_string());
  };
  if (x.parameter() != nullptr || !graph.owns(x.expr()) || !graph.is_many(x.expr().node())) refuse("x is a single row");
  const std::int32_t rows = graph.rows(x.expr().node());
  if (number < 0 || number >= rows)
    refuse("number " + std::to_string(number) + " is outside x (rows 0 to " + std::to_string(rows - 1) + ")");
  return ops::record<ops::Row>(x, {}, {number});
}

}  // namespace espalier
