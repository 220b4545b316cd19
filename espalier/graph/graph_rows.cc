/// Nodes of many rows: how they are made, and how many rows a result has.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"

namespace espalier {

Expr Graph::input_rows(const Shape& row, std::span<const float> values, const char* file, std::int32_t line) {
  const SourceLine where{file, line};
  const std::int64_t each = row.elements();
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == 0 || each == 0 || count % each != 0)
    throw UsageError(fmt::format("input_rows: {} values given for rows of shape {}, each of which holds {}\n  at {}",
                                 count, row.to_string(), each, where.to_string()));
  const bool is_double = options_.dtype == DType::kFloat64;
  std::byte* data = leaf_data_.allocate(values.size() * size_of(options_.dtype));
  if (is_double)
    std::copy(values.begin(), values.end(), reinterpret_cast<double*>(data));
  else
    std::copy(values.begin(), values.end(), reinterpret_cast<float*>(data));
  const Expr leaf = add_leaf_data({options_.dtype, row}, data, where);
  rows_[at(leaf.node())] = static_cast<std::int32_t>(count / each);
  any_many_ = true;
  return leaf;
}

Expr Graph::record_rows(const OpInfo& info, const void* attrs, const void* fields, std::int32_t rows,
                        std::span<const Operand> operands) {
  if (rows < 1)
    throw UsageError(fmt::format("{}: needs at least one row, and {} are given\n  at {}", info.name, rows,
                                 operands.front().where().to_string()));
  return record_operands(info, attrs, fields, operands, rows);
}

std::int32_t Graph::rows_of_result(const OpInfo& info, std::span<const NodeId> operands, std::int32_t given) const {
  if (info.takes_whole) return given;
  if (info.row_an_operand) {
    std::int64_t sum = 0;
    for (NodeId node : operands) sum += rows(node);
    if (sum > std::numeric_limits<std::int32_t>::max()) throw Refusal{fmt::format("{}: too many rows", info.name)};
    return static_cast<std::int32_t>(sum);
  }
  if (info.is_ragged()) return kSingle;  // it is taken over all rows of its operands
  std::size_t first = operands.size();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (shared(operands[i])) continue;
    if (first == operands.size()) first = i;
    const std::int32_t a = rows_[at(operands[first])];
    const std::int32_t b = rows_[at(operands[i])];
    if (a == b) continue;
    const auto said = [](std::int32_t rows) {
      return rows == kSingle ? std::string("is a single row") : fmt::format("has {} rows", rows);
    };
    throw Refusal{fmt::format("{}: {} {} and {} {}", info.name, info.operand_name(first), said(a), info.operand_name(i),
                              said(b))};
  }
  if (given == kSingle) return rows_[at(operands[first])];
  if (first < operands.size() && rows_[at(operands[first])] != given)
    throw Refusal{fmt::format("{}: {} rows are to be made, and {} has {}", info.name, given, info.operand_name(first),
                              rows(operands[first]))};
  return given;
}

}  // namespace espalier
