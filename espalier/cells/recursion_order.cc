#include "espalier/cells/recursion_order.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace espalier::cells {

std::int32_t* RowList::open(std::size_t count) {
  numbers_.resize(count);
  missing_.clear();
  for (Scaled& scaled : scaled_) scaled.stride = 0;
  return numbers_.data();
}

void RowList::close() {
  const auto count = static_cast<std::int32_t>(numbers_.size());
  distance_ = count > 1 ? numbers_[1] - numbers_[0] : 1;
  bool is_even = distance_ > 0;
  bool any_missing = false;
  for (std::int32_t i = 0; i < count; ++i) {
    is_even = is_even && numbers_[at(i)] == numbers_[0] + i * distance_;
    any_missing |= numbers_[at(i)] == kMissing;
  }
  is_even_ = is_even && !any_missing;
  for (std::int32_t i = 0; i < count && any_missing; ++i)
    if (numbers_[at(i)] == kMissing) missing_.push_back(i);
}

const std::int64_t* RowList::offsets(std::int64_t stride) {
  Scaled* to = nullptr;
  for (Scaled& scaled : scaled_) {
    if (scaled.stride == stride) return scaled.offsets.data();
    if (scaled.stride == 0) to = &scaled;
  }
  if (to == nullptr) to = &scaled_.emplace_back();
  to->stride = stride;
  to->offsets.resize(numbers_.size());
  for (std::size_t i = 0; i < numbers_.size(); ++i) to->offsets[i] = numbers_[i] == kMissing ? 0 : numbers_[i] * stride;
  return to->offsets.data();
}

RecursionOrder& RecursionOrder::of_step(const CompiledRecursion& compiled, const StepIn& in) {
  constexpr std::size_t kKept = 8;
  struct Last {
    std::array<RecursionOrder, kKept> orders;
    std::size_t next = 0;
  };
  thread_local Last last;
  for (RecursionOrder& order : last.orders)
    if (order.is_of(compiled, in)) return order;
  RecursionOrder& order = last.orders[last.next++ % kKept];
  order.find(compiled, in);
  return order;
}

bool RecursionOrder::is_of(const CompiledRecursion& compiled, const StepIn& in) const {
  const auto nodes = at(in.nodes) + 1;
  const auto bytes = at(in.rows * in.fields_stride);
  return recursion_ == compiled.uid() && begins_.size() == 2 * nodes && fields_.size() == bytes &&
         std::equal(in.node_begin, in.node_begin + nodes, begins_.begin()) &&
         std::equal(in.operand_begin, in.operand_begin + nodes, begins_.begin() + static_cast<std::ptrdiff_t>(nodes)) &&
         std::memcmp(in.fields_data, fields_.data(), bytes) == 0;
}

void RecursionOrder::find(const CompiledRecursion& compiled, const StepIn& in) {
  recursion_ = 0;  // until all is there
  sort(compiled, in);
  find_reads(compiled, in);
  begins_.assign(in.node_begin, in.node_begin + in.nodes + 1);
  begins_.insert(begins_.end(), in.operand_begin, in.operand_begin + in.nodes + 1);
  fields_.assign(in.fields_data, in.fields_data + in.rows * in.fields_stride);
  recursion_ = compiled.uid();
}

void RecursionOrder::sort(const CompiledRecursion& compiled, const StepIn& in) {
  const auto kinds = static_cast<std::int32_t>(compiled.kinds().size());
  counts_.assign(at(kinds), 0);
  node_of_.resize(at(in.rows));
  std::int32_t heights = 1;
  for (std::int64_t node = 0; node < in.nodes; ++node)
    for (std::int64_t r = in.node_begin[node]; r < in.node_begin[node + 1]; ++r) {
      const std::int32_t* const field = fields_of_row(in, r);
      while (field[RowField::kHeight] >= heights) {
        ++heights;
        counts_.resize(at(heights * kinds), 0);
      }
      ++counts_[at(field[RowField::kHeight] * kinds + field[RowField::kKind])];
      node_of_[at(r)] = static_cast<std::int32_t>(node);
    }
  if (kinds_.size() < at(kinds)) kinds_.resize(at(kinds));
  for (std::int32_t k = 0; k < kinds; ++k) kinds_[at(k)].count = 0;
  levels_.clear();
  for (std::size_t level = 0; level < counts_.size(); ++level) {
    if (counts_[level] == 0) continue;
    const auto kind = static_cast<std::int32_t>(level) % kinds;
    const auto begin = static_cast<std::int32_t>(kinds_[at(kind)].count);
    kinds_[at(kind)].count += counts_[level];
    levels_.push_back({kind, begin, begin + counts_[level]});
  }
  next_.resize(counts_.size());
  for (std::int32_t k = 0; k < kinds; ++k) {
    std::int32_t* next = kinds_[at(k)].rows.open(at(kinds_[at(k)].count));
    for (auto level = at(k); level < counts_.size(); level += at(kinds)) {
      next_[level] = next;
      next += counts_[level];
    }
  }
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const std::int32_t* const field = fields_of_row(in, r);
    *next_[at(field[RowField::kHeight] * kinds + field[RowField::kKind])]++ = static_cast<std::int32_t>(r);
  }
}

void RecursionOrder::find_reads(const CompiledRecursion& compiled, const StepIn& in) {
  const std::int64_t rows_of_x = in.operand_begin[in.nodes];
  is_read_.assign(at(in.rows + rows_of_x), 0);  // as children, then those of x
  std::uint8_t* const x_is_read = is_read_.data() + in.rows;
  std::int64_t x_read = 0;
  shares_x_ = shares_children_ = false;
  for (std::size_t k = 0; k < compiled.kinds().size(); ++k) {
    Kind& kind = kinds_[k];
    if (kind.count == 0) continue;
    kind.rows.close();
    const std::span<const std::int32_t> rows = kind.rows.numbers();
    const std::vector<RecursionInput>& inputs = compiled.kinds()[k].inputs;
    kind.read.resize(std::max(kind.read.size(), inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const RecursionInput& input = inputs[i];
      std::int32_t* to = kind.read[i].open(rows.size());
      if (input.child == RecursionInput::kX) {
        for (const std::int32_t r : rows) {
          const std::int64_t x = in.operand_begin[node_of_[at(r)]] + fields_of_row(in, r)[RowField::kX];
          *to++ = static_cast<std::int32_t>(x);
          if (std::exchange(x_is_read[x], 1) == 0)
            ++x_read;
          else
            shares_x_ = true;
        }
      } else {
        for (const std::int32_t r : rows) {
          const std::int32_t child = fields_of_row(in, r)[RowField::kFirstChild + input.child];
          *to++ = child < 0 ? RowList::kMissing : static_cast<std::int32_t>(in.node_begin[node_of_[at(r)]]) + child;
          if (input.part == 0 && child >= 0) shares_children_ |= std::exchange(is_read_[at(to[-1])], 1) != 0;
        }
      }
      kind.read[i].close();
    }
  }
  reads_all_of_x_once_ = !shares_x_ && x_read == rows_of_x;
}

}  // namespace espalier::cells
