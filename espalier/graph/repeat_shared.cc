#include "espalier/graph/repeat_shared.h"

#include <vector>

namespace espalier {
namespace {

/// A tensor made from parameters alone is a single row. An op that computes `count` rows, and reads one row of this
/// operand for each, gets it as so many rows.
Expr repeated(Recorder& recorder, const Expr& x, std::int32_t count, SourceLine where) {
  static const OpInfo& info = op_info(find_op("gather_rows"));
  const std::vector<Expr> list(static_cast<std::size_t>(count), x);
  return recorder.record(info, nullptr, nullptr, Operands(std::span<const Expr>(list), where));
}

/// Whether an op reads its operands row by row, and not all rows of them at once.
bool reads_by_rows(const OpInfo& info) { return !info.is_ragged() && !info.takes_whole; }

}  // namespace

bool repeat_shared(Recorder& recorder, const OpInfo& info, std::int32_t rows, std::span<const Operand> operands,
                   OperandList& all) {
  if (!reads_by_rows(info)) return false;
  const auto is_shared = [&](const Operand& x) {
    return x.parameter() != nullptr || (recorder.owns(x.expr()) && recorder.shared(x.expr().node()));
  };
  bool any = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& x = operands[i];
    if (is_shared(x))
      any = any || !info.by_identity(i);
    else if (rows == 0 && recorder.owns(x.expr()) && recorder.is_many(x.expr().node()))
      rows = recorder.rows(x.expr().node());
  }
  if (!any || rows == 0) return false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& x = operands[i];
    if (!is_shared(x) || info.by_identity(i))
      all.push_back(x);
    else
      all.push_back(x.at(repeated(
          recorder, x.parameter() != nullptr ? recorder.record_parameter(*x.parameter()) : x.expr(), rows, x.where())));
  }
  return true;
}

bool repeat_shared(Recorder& recorder, const OpInfo& info, std::span<const Expr> list, SourceLine where,
                   std::vector<Expr>& all) {
  OperandList operands;
  for (const Expr& x : list) operands.push_back({x, where});
  OperandList with_rows;
  if (!repeat_shared(recorder, info, 0, operands, with_rows)) return false;
  for (const Operand& x : with_rows) all.push_back(x.expr());
  return true;
}

}  // namespace espalier
