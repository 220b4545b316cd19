#pragma once

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// The result lies in x as it is: nothing is copied.
struct FirstRows {
  static constexpr std::string_view kName = "first_rows";
  static constexpr std::string_view kContract = "y = the first rows of x   x: [...], many rows   ->   y: [...], fewer";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  static constexpr bool kTakesWhole = true;
  using Attrs = None;
  struct Fields {
    std::int32_t row = 0;  // of x
  };

  static Shape infer(const Attrs&, const InputShapes& in) { return in["x"]; }
  static std::int64_t view(const Attrs&, const InputShapes&) { return 0; }
  template <class T>
  static void plain(const Attrs&, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    const std::size_t begin = static_cast<std::size_t>(fields.row) * y.size();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][begin + i];
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t node = 0; node < in.nodes; ++node)
      for (std::int64_t r = in.node_begin[node]; r < in.node_begin[node + 1]; ++r)
        std::copy_n(in[0][in.operand_begin[node] + r - in.node_begin[node]], out.y.width, out.y[r]);
  }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const StepIn& in = saved.in;
    for (std::int64_t node = 0; node < in.nodes; ++node) {
      std::int64_t of_x = in.operand_begin[node];
      for (std::int64_t r = in.node_begin[node]; r < in.node_begin[node + 1]; ++r) grads[0].add(of_x++, saved.dy[r]);
      for (; of_x < in.operand_begin[node + 1]; ++of_x) grads[0].open(of_x);  // no gradient: zeros, if first to write
    }
  }
  static Samples samples() {
    return {gives<FirstRows>({Tensor({2}, {5, 6})}, Tensor({2}, {5, 6})), works_on<FirstRows>({{7}}),
            works_on<FirstRows>({{2, 3}})};
  }
  static Refusals refusals() { return {}; }
};

}  // namespace ops

/// The first `count` rows of a node with many rows, as a node with that many rows. Copies nothing. Refuses (UsageError)
/// a count below 1 or above x.row_count(), and an x with a single row.
inline Expr first_rows(Operand x, std::int32_t count) {
  const OpInfo& info = ops::info_of<ops::FirstRows>();
  Graph& graph = graph_of(info, {&x, 1});
  const auto refuse = [&](const std::string& sentence) {
    throw UsageError("first_rows: " + sentence + "\n  at " + x.where().to_string());
  };
  if (x.parameter() != nullptr || !graph.owns(x.expr()) || !graph.is_many(x.expr().node())) refuse("x is a single row");
  const std::int32_t rows = graph.rows(x.expr().node());
  if (count < 1 || count > rows)
    refuse("a count of " + std::to_string(count) + " is outside 1 to " + std::to_string(rows) + ", the rows of x");
  thread_local std::vector<ops::FirstRows::Fields> fields;
  fields.resize(static_cast<std::size_t>(count));
  for (std::size_t r = 0; r < fields.size(); ++r) fields[r].row = static_cast<std::int32_t>(r);
  return graph.record_rows(info, nullptr, fields.data(), count, {&x, 1});
}

}  // namespace espalier
