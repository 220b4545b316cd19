/// RowList: numbers of rows, and where they lie in a matrix whose rows they are.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier::cells {

/// Numbers of rows, in the order of the rows that read them.
class RowList {
 public:
  static constexpr std::int32_t kMissing = -1;

  /// Room for so many numbers, which the caller writes; then close().
  std::int32_t* open(std::size_t count);
  void close();

  std::span<const std::int32_t> numbers() const { return numbers_; }
  /// Places at which there is no row.
  std::span<const std::int32_t> missing() const { return missing_; }
  /// Whether the rows are evenly spaced, from the first on; then how far, in rows.
  bool is_even() const { return is_even_; }
  std::int64_t distance() const { return distance_; }
  /// The numbers times `stride`; 0 for what is missing.
  const std::int64_t* offsets(std::int64_t stride);

 private:
  std::vector<std::int32_t> numbers_;
  std::vector<std::int32_t> missing_;
  bool is_even_ = true;
  std::int64_t distance_ = 1;
  static constexpr std::int64_t kNone = -1;  // not made yet
  struct Scaled {
    std::int64_t stride = kNone;
    std::vector<std::int64_t> offsets;
  };
  std::vector<Scaled> scaled_;
};

}  // namespace espalier::cells
