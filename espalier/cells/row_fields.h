/// RowFields: what the op of a recursion wants to know of every row of a structure, as its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/cells/recursion.h"
#include "espalier/cells/recursion_program.h"

namespace espalier::cells {

/// What a recursion's op wants to know of every row, as its fields: checked, and with the height of each. `heights` may
/// be empty: then they are found here. Refuses structures that no recursion could run over.
class RowFields {
 public:
  RowFields(const std::string& name, std::span<const RecursionKind> kinds, std::int32_t most_children,
            const Structure& structure, std::int32_t rows_of_x, std::span<const std::int32_t> heights);

  const std::int32_t* data() const { return values_.data(); }
  std::int32_t height_of(std::int32_t row) const { return of(row)[RowField::kHeight]; }

 private:
  static constexpr std::int32_t kUnknown = -1;

  [[noreturn]] void refuse(const std::string& sentence) const;
  std::int32_t* of(std::int32_t row) { return values_.data() + std::ptrdiff_t{row} * stride_; }
  const std::int32_t* of(std::int32_t row) const { return values_.data() + std::ptrdiff_t{row} * stride_; }

  /// Whether the heights of all children are known, so that this one is from now on.
  bool find(std::int32_t row);
  /// In any order: a row that is found asks for its parents.
  void find_all();

  const std::string& name_;
  const Structure& structure_;
  std::int32_t stride_;
  /// Of one structure at a time; its memory serves the next.
  static std::vector<std::int32_t>& of_thread() {
    thread_local std::vector<std::int32_t> values;
    return values;
  }
  std::vector<std::int32_t>& values_ = of_thread();
};

}  // namespace espalier::cells
