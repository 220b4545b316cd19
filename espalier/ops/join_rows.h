#pragma once

#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// Rows are adjacent in memory, so the result is a view of x.
struct JoinRows {
  static constexpr std::string_view kName = "join_rows";
  static constexpr std::string_view kContract =
      "y = every `count` rows of x as one   x: [n, ...], many rows   ->   y: [count * n, ...], so many times fewer";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  static constexpr bool kTakesWhole = true;
  struct Attrs {
    std::int32_t count = 1;
    bool operator==(const Attrs&) const = default;
  };
  struct Fields {
    std::int32_t first = 0;  // of the rows of x that a row is made of
  };

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require(attrs.count >= 1, "1 row or more must become one, not " + std::to_string(attrs.count));
    const Shape& x = in["x"];
    return x.rank() == 0 ? Shape{attrs.count} : x.with(0, std::int64_t{attrs.count} * x[0]);
  }
  static std::int64_t view(const Attrs&, const InputShapes&) { return 0; }
  template <class T>
  static void plain(const Attrs& attrs, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    const std::size_t each = y.size() / static_cast<std::size_t>(attrs.count);
    const std::size_t begin = static_cast<std::size_t>(fields.first) * each;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][begin + i];
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const std::int64_t each = in[0].width;
    for (std::int64_t r = 0; r < in.rows; ++r)
      for (std::int64_t k = 0; k < attrs.count; ++k) std::copy_n(in[0][r * attrs.count + k], each, out.y[r] + k * each);
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const std::int64_t each = saved.in[0].width;
    for (std::int64_t r = 0; r < saved.in.rows; ++r)
      for (std::int64_t k = 0; k < attrs.count; ++k) grads[0].add(r * attrs.count + k, saved.dy[r] + k * each);
  }
  static Samples samples() {
    return {gives<JoinRows>({Tensor({2}, {5, 6})}, Tensor({2}, {5, 6})), works_on<JoinRows>({{7}}),
            works_on<JoinRows>({{2, 3}})};
  }
  static Refusals refusals() {
    return {refuses<JoinRows>({{3}}, "join_rows: 1 row or more must become one, not 0", {0})};
  }
};

}  // namespace ops

/// Joins every `count` rows of a node with many rows into one row: rows 0 to count - 1, and so on. Copies nothing.
/// Refuses (UsageError) a number of rows that `count` does not divide, and an x with a single row.
inline Expr join_rows(Operand x, std::int32_t count) {
  const OpInfo& info = ops::info_of<ops::JoinRows>();
  Graph& graph = graph_of(info, {&x, 1});
  const auto refuse = [&](const std::string& sentence) {
    throw UsageError("join_rows: " + sentence + "\n  at " + x.where().to_string());
  };
  if (x.parameter() != nullptr || !graph.owns(x.expr()) || !graph.is_many(x.expr().node())) refuse("x is a single row");
  const std::int32_t rows = graph.rows(x.expr().node());
  if (count < 1 || rows % count != 0)
    refuse("the " + std::to_string(rows) + " rows of x are no multiple of " + std::to_string(count));
  thread_local std::vector<ops::JoinRows::Fields> fields;
  fields.resize(static_cast<std::size_t>(rows / count));
  for (std::size_t r = 0; r < fields.size(); ++r) fields[r].first = static_cast<std::int32_t>(r) * count;
  const ops::JoinRows::Attrs attrs{count};
  return graph.record_rows(info, &attrs, fields.data(), rows / count, {&x, 1});
}

}  // namespace espalier
