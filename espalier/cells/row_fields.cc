#include "espalier/cells/row_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/graph/limits.h"

namespace espalier::cells {

RowFields::RowFields(const std::string& name, std::span<const RecursionKind> kinds, std::int32_t most_children,
                     const Structure& structure, std::int32_t rows_of_x, std::span<const std::int32_t> heights)
    : name_(name), structure_(structure), stride_(RowField::kFirstChild + most_children) {
  const std::int32_t size = structure.size();
  if (size == 0) refuse("the structure has no rows");
  const std::int64_t count = std::int64_t{size} * stride_;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(std::int32_t));
  if (const std::int64_t most = GraphLimits::current().field_bytes; bytes > most)
    throw ResourceError(fmt::format(
        "recursion \"{}\": {} rows of up to {} children take {} bytes in a graph, and {} are the most there can be",
        name, size, most_children, bytes, most));
  if (values_.size() < static_cast<std::size_t>(count)) values_.resize(static_cast<std::size_t>(count));
  std::int32_t unknown = 0;
  for (std::int32_t r = 0; r < size; ++r) {
    const auto number = static_cast<std::int32_t>(structure.kind(r));
    if (number < 0 || number >= static_cast<std::int32_t>(kinds.size()))
      refuse(fmt::format("row {} is of kind {}, and there are kinds 0 to {}", r, number, kinds.size() - 1));
    const RecursionKind& kind = kinds[at(number)];
    const std::span<const std::int32_t> children = structure.children(r);
    if (static_cast<std::int32_t>(children.size()) != kind.children)
      refuse(fmt::format("row {} has {} children, and rows of kind \"{}\" have {}", r, children.size(), kind.name,
                         kind.children));
    const std::int32_t x = structure.x(r);
    if (kind.takes_x && (x < 0 || x >= rows_of_x))
      refuse(fmt::format("row {}, of kind \"{}\", reads row {} of x, which has rows 0 to {}", r, kind.name, x,
                         rows_of_x - 1));
    std::int32_t* const field = of(r);
    field[RowField::kKind] = number;
    field[RowField::kX] = kind.takes_x ? x : Structure::kNoX;
    // Nearly always children come all before their parents, or all behind.
    std::int32_t height = 0;
    std::int32_t* to = field + RowField::kFirstChild;
    for (const std::int32_t child : children) {
      *to++ = child;
      if (child == Structure::kMissing) continue;
      if (child < 0 || child >= size)
        refuse(fmt::format("row {} has row {} as a child, and there are rows 0 to {}", r, child, size - 1));
      const std::int32_t of_child = child < r ? height_of(child) : kUnknown;
      height = of_child == kUnknown || height == kUnknown ? kUnknown : std::max(height, of_child + 1);
    }
    if (!heights.empty()) height = heights[at(r)];
    std::fill(to, of(r + 1), -1);
    field[RowField::kHeight] = height;
    unknown += height == kUnknown ? 1 : 0;
  }
  for (std::int32_t r = size - 1; r >= 0 && unknown > 0; --r)
    if (height_of(r) == kUnknown && find(r)) --unknown;
  if (unknown > 0) find_all();
}

void RowFields::refuse(const std::string& sentence) const {
  throw UsageError(fmt::format("recursion \"{}\": {}", name_, sentence));
}

bool RowFields::find(std::int32_t row) {
  std::int32_t height = 0;
  for (const std::int32_t child : structure_.children(row)) {
    if (child == Structure::kMissing) continue;
    if (height_of(child) == kUnknown) return false;
    height = std::max(height, height_of(child) + 1);
  }
  of(row)[RowField::kHeight] = height;
  return true;
}

void RowFields::find_all() {
  const auto size = at(structure_.size());
  std::vector<std::int32_t> waits(size, 0);
  std::vector<std::vector<std::int32_t>> parents(size);
  std::vector<std::int32_t> ready;
  std::int32_t unknown = 0;
  for (std::int32_t r = 0; r < structure_.size(); ++r) {
    if (height_of(r) != kUnknown) continue;
    ++unknown;
    for (const std::int32_t child : structure_.children(r)) {
      if (child == Structure::kMissing || height_of(child) != kUnknown) continue;
      ++waits[at(r)];
      parents[at(child)].push_back(r);
    }
    if (waits[at(r)] == 0) ready.push_back(r);
  }
  while (!ready.empty()) {
    const std::int32_t row = ready.back();
    ready.pop_back();
    find(row);
    --unknown;
    for (const std::int32_t parent : parents[at(row)])
      if (--waits[at(parent)] == 0) ready.push_back(parent);
  }
  if (unknown == 0) return;
  std::int32_t row = 0;
  while (height_of(row) != kUnknown) ++row;
  refuse(fmt::format("row {} depends on itself, or on a row that does", row));
}

}  // namespace espalier::cells
