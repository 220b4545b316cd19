#pragma once

#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

struct Lookup {
  static constexpr std::string_view kName = "lookup";
  static constexpr std::string_view kContract = "y = row of table   table: [rows, ...]   ->   y: [...]";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"table", Role::kShared}};
  static constexpr Keep kKeep{};
  static constexpr bool kPerInstance = true;
  using Attrs = None;
  struct Fields {
    std::int32_t row = 0;
  };

  static Shape infer(const Attrs&, const InputShapes& in) {
    in.require_rank_at_least("table", 1);
    return in["table"].without(0);
  }
  static std::int32_t choices(const Attrs&, const InputShapes& in) { return in["table"][0]; }
  static void check(const Attrs&, const Fields& fields, const InputShapes& in) {
    const std::int32_t rows = in["table"][0];
    if (fields.row < 0 || fields.row >= rows)
      in.refuse("row " + std::to_string(fields.row) + " is outside the table (rows 0 to " + std::to_string(rows - 1) +
                ")");
  }
  template <class T>
  static void plain(const Attrs&, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    const std::size_t begin = static_cast<std::size_t>(fields.row) * y.size();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][begin + i];
  }
  static void forward(const Attrs&, const StepIn& in, const StepOut& out) {
    for (std::int64_t r = 0; r < in.rows; ++r)
      std::copy_n(in[0].data + in.fields<Fields>(r).row * out.y.width, out.y.width, out.y[r]);
  }
  static std::int32_t table_row(const Fields& fields) { return fields.row; }
  static void backward(const Attrs&, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const auto width = static_cast<std::size_t>(saved.dy.width);
    const std::span<float> table = grads[0].open(0);
    for (std::int64_t r = 0; r < saved.in.rows; ++r)
      kernels::add({saved.dy[r], width},
                   table.subspan(static_cast<std::size_t>(table_row(saved.in.fields<Fields>(r))) * width, width));
  }
  static Samples samples() {
    return {gives<Lookup>({Tensor({3, 2}, {1, 2, 3, 4, 5, 6})}, Tensor({2}, {5, 6}), {}, {2}),
            works_on<Lookup>({{4, 7}}, {}, {3}), works_on<Lookup>({{4, 2, 3}}, {}, {0}),
            works_on<Lookup>({{5}}, {}, {1})};
  }
  static Refusals refusals() {
    return {refuses<Lookup>({{}}, "lookup: table must have rank 1 or more, and [] has rank 0"),
            refuses<Lookup>({{3, 2}}, "lookup: row 3 is outside the table (rows 0 to 2)", {}, {3}),
            refuses<Lookup>({{3, 2}}, "lookup: row -1 is outside the table (rows 0 to 2)", {}, {-1})};
  }
};

}  // namespace ops

/// Row `row` of a table, which is a parameter or computed from parameters only.
inline Expr lookup(Operand table, std::int32_t row) { return ops::record<ops::Lookup>({table}, {}, {row}); }
inline Expr lookup(Graph& graph, const Parameter& table, std::int32_t row, const char* file = __builtin_FILE(),
                   std::int32_t line = __builtin_LINE()) {
  return ops::record_on<ops::Lookup>(graph, {&table, SourceLine{file, line}}, {}, {row});
}
/// Looks up several rows of a table and returns one node with that many rows. Refuses (UsageError) an empty list and a
/// row outside the table.
inline Expr lookup_rows(Graph& graph, const Parameter& table, std::span<const std::int32_t> rows,
                        const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  const Operand operand(&table, SourceLine{file, line});
  return graph.record_rows(ops::info_of<ops::Lookup>(), nullptr, rows.data(), static_cast<std::int32_t>(rows.size()),
                           {&operand, 1});
}

}  // namespace espalier
