/// Memory that is taken and given back piece by piece, in constant time: holes beside each other become one, and are
/// found by their size, as in the TLSF allocator of Masmano, Ripoll, Crespo and Real (ECRTS 2004).
///
/// Sizes and places are in units. Holes of up to 31 units are found by their exact size; larger ones by classes that
/// differ by a sixteenth, of which some are looked at for the smallest. In a hurry, small spans are kept as they are at
/// first, for the next one that wants just that size, and become holes when there is none: of single rows there are
/// many, and of few sizes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace espalier::plan {

class Holes {
 public:
  void clear(bool in_a_hurry) {
    fresh_below_ = in_a_hurry ? kFresh : 0;
    spans_.clear();
    heads_.fill(kNone);
    words_.fill(0);
    filled_words_ = 0;
    fresh_.fill(kNone);
    filled_fresh_ = 0;
    tail_ = kNone;
    end_ = 0;
  }

  /// A span of that size: a hole, or new units at the end.
  std::int32_t take(std::int64_t units) {
    if (units < fresh_below_ && fresh_[static_cast<std::size_t>(units)] != kNone) {
      std::int32_t& fresh = fresh_[static_cast<std::size_t>(units)];
      const std::int32_t span = fresh;
      fresh = spans_[at(span)].next_hole;
      return span;
    }
    join_fresh();
    const std::int32_t hole = find(units);
    if (hole == kNone) return grow(units);
    unlink(hole);
    if (spans_[at(hole)].units > units) split(hole, units);
    spans_[at(hole)].is_free = false;
    return hole;
  }
  void give(std::int32_t span) {
    const std::int64_t units = spans_[at(span)].units;
    if (units >= fresh_below_) return make_hole(span);
    std::int32_t& fresh = fresh_[static_cast<std::size_t>(units)];
    spans_[at(span)].next_hole = fresh;
    fresh = span;
    filled_fresh_ |= std::uint64_t{1} << units;
  }
  std::int64_t place_of(std::int32_t span) const { return spans_[at(span)].place; }
  std::int64_t end() const { return end_; }

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::int64_t kFresh = 64;
  static constexpr int kExact = 32;
  static constexpr int kParts = 16;
  static constexpr int kClasses = kExact + kParts * (63 - 5);

  struct Span {
    std::int64_t place;
    std::int64_t units;
    std::int32_t before;  // by place
    std::int32_t next;
    std::int32_t before_hole;  // of the same class
    std::int32_t next_hole;
    bool is_free;
  };

  void join_fresh() {
    for (; filled_fresh_ != 0; filled_fresh_ &= filled_fresh_ - 1) {
      std::int32_t& fresh = fresh_[at(std::countr_zero(filled_fresh_))];
      while (fresh != kNone) {
        const std::int32_t span = fresh;
        fresh = spans_[at(span)].next_hole;
        make_hole(span);
      }
    }
  }
  /// Joined with the holes beside it.
  void make_hole(std::int32_t span) {
    const std::int32_t next = spans_[at(span)].next;
    if (next != kNone && spans_[at(next)].is_free) {
      unlink(next);
      join(span, next);
    }
    const std::int32_t before = spans_[at(span)].before;
    if (before != kNone && spans_[at(before)].is_free) {
      unlink(before);
      join(before, span);
      span = before;
    }
    link(span);
  }

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  static std::int32_t class_of(std::int64_t units) {
    if (units < kExact) return static_cast<std::int32_t>(units);
    const auto log = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(units))) - 1;
    return kExact + (log - 5) * kParts + static_cast<std::int32_t>((units >> (log - 4)) & (kParts - 1));
  }

  /// The smallest of the first holes of a class that have so many units.
  std::int32_t best_of(std::int32_t head, std::int64_t units) const {
    constexpr int kMostLookedAt = 32;
    std::int32_t best = kNone;
    for (int i = 0; head != kNone && i < kMostLookedAt; head = spans_[at(head)].next_hole, ++i) {
      const std::int64_t size = spans_[at(head)].units;
      if (size == units) return head;
      if (size > units && (best == kNone || size < spans_[at(best)].units)) best = head;
    }
    return best;
  }
  std::int32_t find(std::int64_t units) const {
    const std::int32_t own = class_of(units);
    const std::int32_t near = best_of(heads_[at(own)], units);
    if (near != kNone) return near;
    std::size_t word = at(own + 1) / 64;
    std::uint64_t bits = words_[word] & (~std::uint64_t{0} << (own + 1) % 64);
    if (bits == 0) {
      const std::uint32_t later = filled_words_ >> word >> 1;
      if (later == 0) return kNone;
      word += 1 + at(std::countr_zero(later));
      bits = words_[word];
    }
    return best_of(heads_[word * 64 + at(std::countr_zero(bits))], units);
  }

  std::int32_t add(const Span& span) {
    spans_.push_back(span);
    return static_cast<std::int32_t>(spans_.size()) - 1;
  }
  /// A hole at the end is made larger.
  std::int32_t grow(std::int64_t units) {
    if (tail_ != kNone && spans_[at(tail_)].is_free) {
      unlink(tail_);
      Span& last = spans_[at(tail_)];
      end_ = last.place + units;
      last.units = units;
      last.is_free = false;
      return tail_;
    }
    const std::int32_t span = add({end_, units, tail_, kNone, kNone, kNone, false});
    if (tail_ != kNone) spans_[at(tail_)].next = span;
    tail_ = span;
    end_ += units;
    return span;
  }
  /// What is left of a hole is a hole.
  void split(std::int32_t hole, std::int64_t units) {
    const Span whole = spans_[at(hole)];
    const std::int32_t rest = add({whole.place + units, whole.units - units, hole, whole.next, kNone, kNone, false});
    spans_[at(hole)].units = units;
    spans_[at(hole)].next = rest;
    (whole.next != kNone ? spans_[at(whole.next)].before : tail_) = rest;
    link(rest);
  }
  void join(std::int32_t span, std::int32_t next) {
    Span& first = spans_[at(span)];
    first.units += spans_[at(next)].units;
    first.next = spans_[at(next)].next;
    (first.next != kNone ? spans_[at(first.next)].before : tail_) = span;
  }

  void link(std::int32_t hole) {
    Span& span = spans_[at(hole)];
    const std::int32_t own = class_of(span.units);
    span.is_free = true;
    span.before_hole = kNone;
    span.next_hole = heads_[at(own)];
    if (span.next_hole != kNone) spans_[at(span.next_hole)].before_hole = hole;
    heads_[at(own)] = hole;
    words_[at(own) / 64] |= std::uint64_t{1} << own % 64;
    filled_words_ |= 1U << own / 64;
  }
  void unlink(std::int32_t hole) {
    const Span& span = spans_[at(hole)];
    if (span.next_hole != kNone) spans_[at(span.next_hole)].before_hole = span.before_hole;
    if (span.before_hole != kNone) {
      spans_[at(span.before_hole)].next_hole = span.next_hole;
      return;
    }
    const std::int32_t own = class_of(span.units);
    heads_[at(own)] = span.next_hole;
    if (span.next_hole != kNone) return;
    std::uint64_t& word = words_[at(own) / 64];
    word &= ~(std::uint64_t{1} << own % 64);
    if (word == 0) filled_words_ &= ~(1U << own / 64);
  }

  std::vector<Span> spans_;  // joined ones stay behind, unused
  std::array<std::int32_t, kClasses> heads_{};
  std::array<std::uint64_t, (kClasses + 63) / 64> words_{};  // a bit for each class that has holes
  std::uint32_t filled_words_ = 0;                           // a bit for each word that has any
  std::array<std::int32_t, kFresh> fresh_{};                 // given back and not joined, by size
  std::uint64_t filled_fresh_ = 0;
  std::int64_t fresh_below_ = 0;
  std::int32_t tail_ = kNone;
  std::int64_t end_ = 0;
};

}  // namespace espalier::plan
