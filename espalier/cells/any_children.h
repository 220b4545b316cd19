/// AnyChildren: rows with any number of children, as rows with a fixed number.
///
/// Each child of such a row gets a row of its own, which adds the child's message to the sum of those before it. Sums
/// of more than a few children are made in parts and added in pairs, so that a row with many children is not much
/// higher than one with few. The lowest children come first: their messages are summed while the others are still
/// computed.
///
/// Thread safety: never changes once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/cells/recursion.h"

namespace espalier::cells {

/// A structure whose rows all have a fixed number of children. Its first rows are those of the structure it was made
/// from, with the same numbers.
struct FixedStructure {
  Structure structure;
  std::vector<std::int32_t> heights;  // of its rows
};

class AnyChildren {
 public:
  /// Gives kinds with any number of children one child, the sum of the messages, and adds the kinds of rows that make
  /// these sums at the end of the list. `name` is the recursion's, for errors.
  AnyChildren(const std::string& name, std::vector<RecursionKind>& kinds);

  bool any() const { return any_; }
  /// How many kinds were given; those behind them are its own.
  std::size_t given_kinds() const { return child_kinds_.size(); }
  /// Refuses (UsageError) a cycle, and kinds and children that do not exist.
  FixedStructure rewrite(const Structure& given) const;

 private:
  class Rewriting;

  const std::string& name_;
  bool any_ = false;
  KindId sum_{};                      // of two sums
  std::vector<KindId> child_kinds_;   // by kind: that of the rows of its children
  std::vector<std::uint8_t> is_any_;  // by kind
};

}  // namespace espalier::cells
