/// Nodes of many rows: how they are made, and how many rows a result has.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/limits.h"

namespace espalier {

namespace {

template <class From>
void copy_as(DType dtype, From begin, From end, std::byte* to) {
  if (dtype == DType::kFloat64)
    std::copy(begin, end, reinterpret_cast<double*>(to));
  else
    std::copy(begin, end, reinterpret_cast<float*>(to));
}

void require_rows(std::int64_t rows, SourceLine where) {
  if (rows > GraphLimits::current().rows)
    throw ResourceError(fmt::format("rows: {} rows are given, and {} are the most a node can have\n  at {}", rows,
                                    GraphLimits::current().rows, where.to_string()));
}

}  // namespace

Expr Graph::rows(const Shape& row, std::span<const float> values, const char* file, std::int32_t line) {
  const SourceLine where{file, line};
  const std::int64_t each = row.elements();
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == 0 || each == 0 || count % each != 0)
    throw UsageError(fmt::format("rows: {} values given for rows of shape {}, each of which holds {}\n  at {}", count,
                                 row.to_string(), each, where.to_string()));
  require_rows(count / each, where);
  std::byte* data = leaf_data_.allocate(values.size() * size_of(options_.dtype));
  copy_as(options_.dtype, values.begin(), values.end(), data);
  return add_leaf_rows(row, count / each, data, where);
}

Expr Graph::rows(const Shape& row, std::span<const float* const> rows, const char* file, std::int32_t line) {
  const SourceLine where{file, line};
  const std::int64_t each = row.elements();
  if (rows.empty() || each == 0)
    throw UsageError(fmt::format("rows: {} rows given of shape {}, each of which holds {}\n  at {}", rows.size(),
                                 row.to_string(), each, where.to_string()));
  require_rows(static_cast<std::int64_t>(rows.size()), where);
  const std::size_t bytes = static_cast<std::size_t>(each) * size_of(options_.dtype);
  std::byte* data = leaf_data_.allocate(rows.size() * bytes);
  for (std::size_t r = 0; r < rows.size(); ++r) copy_as(options_.dtype, rows[r], rows[r] + each, data + r * bytes);
  return add_leaf_rows(row, static_cast<std::int64_t>(rows.size()), data, where);
}

Expr Recorder::add_leaf_rows(const Shape& row, std::int64_t rows, const std::byte* data, SourceLine where) {
  const Expr leaf = add_leaf_data({options_.dtype, row}, data, where);
  head_[at(leaf.node())].rows = static_cast<std::int32_t>(rows);
  any_many_ = true;
  return leaf;
}

std::int32_t Recorder::rows_of_result(const OpInfo& info, std::span<const NodeId> operands, std::int32_t given) const {
  if (info.takes_whole) return given;
  if (info.row_an_operand) {
    std::int64_t sum = 0;
    for (NodeId node : operands) sum += rows(node);
    if (const std::int64_t most = GraphLimits::current().rows; sum > most)
      throw ResourceError(
          fmt::format("{}: its operands have {} rows, and {} are the most a node can have", info.name, sum, most));
    return static_cast<std::int32_t>(sum);
  }
  if (info.is_ragged()) return kSingle;  // it is taken over all rows of its operands
  std::size_t first = operands.size();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (shared(operands[i])) continue;
    if (first == operands.size()) first = i;
    const std::int32_t a = head_[at(operands[first])].rows;
    const std::int32_t b = head_[at(operands[i])].rows;
    if (a == b) continue;
    const auto said = [](std::int32_t rows) {
      return rows == kSingle ? std::string("is a single row") : fmt::format("has {} rows", rows);
    };
    throw Refusal{fmt::format("{}: {} {} and {} {}", info.name, info.operand_name(first), said(a), info.operand_name(i),
                              said(b))};
  }
  if (given == kSingle) return head_[at(operands[first])].rows;
  if (first < operands.size() && head_[at(operands[first])].rows != given)
    throw Refusal{fmt::format("{}: {} rows are to be made, and {} has {}", info.name, given, info.operand_name(first),
                              rows(operands[first]))};
  return given;
}

}  // namespace espalier
