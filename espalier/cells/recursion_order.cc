#include "espalier/cells/recursion_order.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace espalier::cells {

/// The least kind that is known to run with it.
std::int32_t RecursionOrder::part_of(std::int32_t kind) const {
  while (kinds_[at(kind)].part != kind) kind = kinds_[at(kind)].part;
  return kind;
}

void RecursionOrder::run_together(std::int32_t a, std::int32_t b) {
  a = part_of(a);
  b = part_of(b);
  kinds_[at(std::max(a, b))].part = std::min(a, b);
}

void RecursionOrder::divide() {
  bool any = false;
  for (const std::int32_t kind : kinds_as_they_run_) {
    kinds_[at(kind)].part = part_of(kind);
    any |= kinds_[at(kind)].part != kinds_[at(kinds_as_they_run_[0])].part;
  }
  if (any) {
    const auto is_before = [&](std::int32_t a, std::int32_t b) { return kinds_[at(a)].part < kinds_[at(b)].part; };
    std::stable_sort(kinds_as_they_run_.begin(), kinds_as_they_run_.end(), is_before);
    std::stable_sort(levels_.begin(), levels_.end(),
                     [&](const Level& a, const Level& b) { return is_before(a.kind, b.kind); });
  }
  parts_.clear();
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const std::int32_t number = kinds_[at(levels_[i].kind)].part;
    if (parts_.empty() || parts_.back().number != number) parts_.push_back({number, i, i});
    parts_.back().end = i + 1;
  }
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
         std::memcmp(in.fields_data, fields_.data(), bytes) == 0 &&
         (in.first_equal == nullptr ? first_equal_.empty()
                                    : std::equal(first_equal_.begin(), first_equal_.end(), in.first_equal,
                                                 in.first_equal + in.operand_begin[in.nodes]));
}

void RecursionOrder::find(const CompiledRecursion& compiled, const StepIn& in) {
  recursion_ = 0;  // until all is there
  sort(compiled, in);
  find_reads(compiled, in);
  divide();
  begins_.assign(in.node_begin, in.node_begin + in.nodes + 1);
  begins_.insert(begins_.end(), in.operand_begin, in.operand_begin + in.nodes + 1);
  fields_.assign(in.fields_data, in.fields_data + in.rows * in.fields_stride);
  first_equal_.clear();
  if (in.first_equal != nullptr) first_equal_.assign(in.first_equal, in.first_equal + in.operand_begin[in.nodes]);
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
  find_copies(compiled, in);
  std::vector<std::int32_t> copies(at(kinds), 0);  // of the levels so far
  for (std::int32_t k = 0; k < kinds; ++k) {
    kinds_[at(k)].count = 0;
    kinds_[at(k)].childless = counts_[at(k)];
    kinds_[at(k)].part = k;
  }
  levels_.clear();
  for (std::size_t level = 0; level < counts_.size(); ++level) {
    if (counts_[level] == 0) continue;
    const auto kind = static_cast<std::int32_t>(level) % kinds;
    const auto begin = static_cast<std::int32_t>(kinds_[at(kind)].count);
    kinds_[at(kind)].count += counts_[level];
    levels_.push_back({kind, begin, begin + counts_[level]});
    const std::vector<Kind::Copy>& all = kinds_[at(kind)].copies;
    std::int32_t& next = copies[at(kind)];
    levels_.back().copies_begin = next;
    while (at(next) < all.size() &&
           fields_of_row(in, all[at(next)].row)[RowField::kHeight] * kinds + kind == static_cast<std::int32_t>(level))
      ++next;
    levels_.back().copies_end = next;
  }
  next_.resize(counts_.size());
  kinds_as_they_run_.clear();
  for (std::int32_t k = 0; k < kinds; ++k) {
    if (kinds_[at(k)].count == 0) continue;
    kinds_as_they_run_.push_back(k);
    std::int32_t* next = kinds_[at(k)].rows.open(at(kinds_[at(k)].count));
    for (auto level = at(k); level < counts_.size(); level += at(kinds)) {
      next_[level] = next;
      next += counts_[level];
    }
  }
  for (std::int64_t r = 0; r < in.rows; ++r) {
    if (!is_copy_.empty() && is_copy_[at(r)] != 0) continue;
    const std::int32_t* const field = fields_of_row(in, r);
    *next_[at(field[RowField::kHeight] * kinds + field[RowField::kKind])]++ = static_cast<std::int32_t>(r);
  }
}

void RecursionOrder::sort_by_height(const StepIn& in, std::int32_t kinds) {
  std::vector<std::int32_t> next(counts_.size() / at(kinds) + 1, 0);
  for (std::size_t level = 0; level < counts_.size(); ++level) next[level / at(kinds) + 1] += counts_[level];
  for (std::size_t height = 1; height < next.size(); ++height) next[height] += next[height - 1];
  by_height_.resize(at(in.rows));
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(in.rows); ++r)
    by_height_[at(next[at(fields_of_row(in, r)[RowField::kHeight])]++)] = r;
}

void RecursionOrder::find_copies(const CompiledRecursion& compiled, const StepIn& in) {
  is_copy_.clear();
  const auto kinds = static_cast<std::int32_t>(compiled.kinds().size());
  for (std::int32_t k = 0; k < kinds; ++k) kinds_[at(k)].copies.clear();
  if (in.first_equal == nullptr) return;
  sort_by_height(in, kinds);
  const std::int32_t most_children = compiled.most_children();
  is_copy_.assign(at(in.rows), 0);
  first_of_.resize(at(in.rows));
  // What a row reads, in the step's own numbers: of equal rows of x and of equal children the first.
  const auto x_of = [&](std::int32_t r) {
    const std::int32_t x = fields_of_row(in, r)[RowField::kX];
    return x < 0 ? -1 : first_equal_of(in, in.operand_begin[node_of_[at(r)]] + x);
  };
  const auto child_of = [&](std::int32_t r, std::int32_t c) {
    const std::int32_t child = fields_of_row(in, r)[RowField::kFirstChild + c];
    return child < 0 ? -1 : first_of_[at(in.node_begin[node_of_[at(r)]] + child)];
  };
  const auto is_equal = [&](std::int32_t a, std::int32_t b) {
    if (kind_of_row(in, a) != kind_of_row(in, b) || x_of(a) != x_of(b)) return false;
    for (std::int32_t c = 0; c < most_children; ++c)
      if (child_of(a, c) != child_of(b, c)) return false;
    return true;
  };
  std::size_t size = 16;
  while (size < 2 * at(in.rows)) size *= 2;
  found_.assign(size, -1);
  for (const std::int32_t r : by_height_) {
    first_of_[at(r)] = r;
    if (in.first_equal[in.operand_begin[node_of_[at(r)]]] < 0) continue;  // its node computes each row for itself
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    const std::int32_t x = x_of(r);
    std::uint64_t hash =
        (static_cast<std::uint64_t>(kind_of_row(in, r)) << 32 ^ static_cast<std::uint32_t>(x)) * kGolden;
    bool reads_any = x >= 0;
    for (std::int32_t c = 0; c < most_children; ++c) {
      const std::int32_t child = child_of(r, c);
      reads_any |= child >= 0;
      hash = ((hash ^ hash >> 29) + static_cast<std::uint32_t>(child)) * kGolden;
    }
    if (!reads_any) continue;  // nothing says that it may be equal to another
    std::size_t place = (hash ^ hash >> 32) & (size - 1);
    while (found_[place] >= 0 && !is_equal(found_[place], r)) place = (place + 1) & (size - 1);
    const std::int32_t first = found_[place];
    if (first < 0) {
      found_[place] = r;
      continue;
    }
    first_of_[at(r)] = first;
    is_copy_[at(r)] = 1;
    const std::int32_t* const field = fields_of_row(in, r);
    kinds_[at(field[RowField::kKind])].copies.push_back({r, first});
    --counts_[at(field[RowField::kHeight] * kinds + field[RowField::kKind])];
  }
}

void RecursionOrder::find_distinct(const StepIn& in, Kind& kind) {
  const std::span<const std::int32_t> read = kind.read[0].numbers();
  numbers_.assign(at(in.operand_begin[in.nodes]), -1);
  kind.distinct_of.clear();
  std::int32_t* const to = kind.distinct_x.open(read.size());
  std::int32_t count = 0;
  for (const std::int32_t x : read) {
    const std::int32_t first = first_equal_of(in, x);
    std::int32_t& number = numbers_[at(first)];
    if (number < 0) {
      to[count] = first;
      number = count++;
    }
    kind.distinct_of.push_back(number);
  }
  kind.is_last_equal.assign(read.size(), 0);
  for (std::size_t i = read.size(); i-- > 0;) {
    std::int32_t& number = numbers_[at(first_equal_of(in, read[i]))];
    kind.is_last_equal[i] = number >= 0 ? 1 : 0;
    number = -1;
  }
  constexpr std::size_t kPart = 8;  // that must be equal to others, for it to pay
  if (at(count) + read.size() / kPart > read.size()) count = 0;
  kind.distinct_x.open(at(count));
  kind.distinct_x.close();
}

void RecursionOrder::find_reads(const CompiledRecursion& compiled, const StepIn& in) {
  const std::int64_t rows_of_x = in.operand_begin[in.nodes];
  is_child_.assign(at(in.rows), 0);
  x_read_by_.assign(at(rows_of_x), 0);
  std::int64_t x_read = 0;  // how often
  bool any_multiplied_once = false;
  shares_x_ = shares_children_ = false;
  for (const std::int32_t k : kinds_as_they_run_) {
    Kind& kind = kinds_[at(k)];
    kind.rows.close();
    const std::span<const std::int32_t> rows = kind.rows.numbers();
    const std::vector<RecursionInput>& inputs = compiled.kinds()[at(k)].inputs;
    kind.reads_all_of_x = false;
    for (const RecursionInput& input : inputs) {
      if (input.part > 0) continue;  // of the same child as the part before
      kind.read.resize(std::max(kind.read.size(), Kind::place_of(input) + 1));
      std::int32_t* to = kind.read_by(input).open(rows.size());
      if (input.child == RecursionInput::kX) {
        const std::int32_t reader = k + 1;
        bool is_distinct = true;
        for (const std::int32_t r : rows) {
          const std::int64_t x = in.operand_begin[node_of_[at(r)]] + fields_of_row(in, r)[RowField::kX];
          *to++ = static_cast<std::int32_t>(x);
          is_distinct = std::exchange(x_read_by_[at(x)], reader) != reader && is_distinct;
        }
        x_read += kind.count;
        shares_x_ |= !is_distinct;
        kind.reads_all_of_x = is_distinct && kind.count == rows_of_x;
      } else {
        for (const std::int32_t r : rows) {
          const std::int32_t child = fields_of_row(in, r)[RowField::kFirstChild + input.child];
          if (child < 0) {
            *to++ = RowList::kMissing;
            continue;
          }
          const std::int32_t row = static_cast<std::int32_t>(in.node_begin[node_of_[at(r)]]) + child;
          *to++ = row;
          shares_children_ |= std::exchange(is_child_[at(row)], 1) != 0;
          if (const std::int32_t of_child = kind_of_row(in, row); kinds_[at(of_child)].part != kind.part)
            run_together(of_child, k);
        }
      }
      kind.read_by(input).close();
    }
    kind.distinct_x.open(0);
    if (in.first_equal != nullptr && compiled.kinds()[at(k)].hoists) find_distinct(in, kind);
    any_multiplied_once |= !kind.distinct_x.numbers().empty();
  }
  roots_.clear();
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(in.rows); ++r)
    if (is_child_[at(r)] == 0) roots_.push_back(r);
  const bool any_unread = std::find(x_read_by_.begin(), x_read_by_.end(), 0) != x_read_by_.end();
  reads_all_of_x_once_ = !any_unread && x_read == rows_of_x && !any_multiplied_once;
}

}  // namespace espalier::cells
