/// AlignedRows: the rows that some steps read or write, to tell whether another step may run with them piece by piece,
/// all steps on one piece before the next. It may where it touches what they touch row by row: its row r lies in row r
/// of theirs, or beside it, and in no other.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/tensor/rows.h"

namespace espalier::exec {

class AlignedRows {
 public:
  void clear() { all_.clear(); }
  void add(const ConstRows& rows) { all_.push_back({rows, extent_of(rows)}); }
  /// Whether `rows`, as many as all others, have nothing in common with any of them but row r with row r. A row that
  /// all share is no part of anything.
  bool fit(const ConstRows& rows) const;

 private:
  struct Extent {
    const float* begin;
    const float* end;

    bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
  };
  struct Entry {
    ConstRows rows;
    Extent extent;
  };
  static Extent extent_of(const ConstRows& rows);
  static bool are_aligned(const ConstRows& a, const ConstRows& b);

  std::vector<Entry> all_;
};

}  // namespace espalier::exec
