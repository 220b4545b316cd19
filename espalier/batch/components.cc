#include "espalier/batch/components.h"

#include <algorithm>
#include <bit>

#include "espalier/base/at.h"

namespace espalier::batch {
namespace {

constexpr std::int32_t kMostByBits = 256;

}  // namespace

void SignaturePairs::clear(std::int32_t signatures) {
  signatures_ = signatures;
  by_bits_ = signatures <= kMostByBits;
  if (by_bits_) {
    words_ = (at(signatures) + 63) / 64;
    bits_.assign(at(signatures) * words_, 0);
  } else {
    recent_.assign(std::size_t{1} << kRecentBits, ~std::uint64_t{0});
    listed_.clear();
  }
}

void SignaturePairs::compress() {
  begin_.assign(at(signatures_) + 1, 0);
  to_.clear();
  if (by_bits_) {
    for (std::size_t s = 0; s < at(signatures_); ++s) {
      for (std::size_t word = 0; word < words_; ++word)
        for (std::uint64_t bits = bits_[s * words_ + word]; bits != 0; bits &= bits - 1)
          to_.push_back(static_cast<std::int32_t>(word * 64) + std::countr_zero(bits));
      begin_[s + 1] = static_cast<std::int32_t>(to_.size());
    }
    return;
  }
  std::sort(listed_.begin(), listed_.end());
  listed_.erase(std::unique(listed_.begin(), listed_.end()), listed_.end());
  for (std::uint64_t pair : listed_) {
    ++begin_[(pair >> 32) + 1];
    to_.push_back(static_cast<std::int32_t>(pair & 0xFFFFFFFFU));
  }
  for (std::size_t s = 0; s < at(signatures_); ++s) begin_[s + 1] += begin_[s];
}

/// Tarjan's algorithm (1972) with a stack of its own in place of recursion.
void Components::find(std::int32_t signatures, const SignaturePairs& pairs) {
  component_.assign(at(signatures), -1);
  place_.assign(at(signatures), 0);
  size_.clear();
  number_.assign(at(signatures), -1);  // order of the first visit
  low_.assign(at(signatures), 0);      // the smallest number known to be reachable
  open_.clear();                       // visited, component not known yet
  visits_.clear();
  std::int32_t count = 0;
  const auto enter = [&](std::int32_t s) {
    number_[at(s)] = low_[at(s)] = count++;
    open_.push_back(s);
    visits_.push_back({s, pairs.begin()[at(s)]});
  };

  for (std::int32_t root = 0; root < signatures; ++root) {
    if (number_[at(root)] >= 0) continue;
    enter(root);
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      const std::int32_t s = visit.signature;
      if (visit.next_edge < pairs.begin()[at(s) + 1]) {
        const std::int32_t to = pairs.to()[at(visit.next_edge++)];
        if (number_[at(to)] < 0)
          enter(to);
        else if (component_[at(to)] < 0)
          low_[at(s)] = std::min(low_[at(s)], number_[at(to)]);
        continue;
      }
      if (low_[at(s)] == number_[at(s)]) {  // s was the first of its component to be visited
        const auto component = static_cast<std::int32_t>(size_.size());
        std::int32_t members = 0;
        for (std::int32_t member = -1; member != s;) {
          member = open_.back();
          open_.pop_back();
          component_[at(member)] = component;
          place_[at(member)] = members++;
        }
        size_.push_back(members);
      }
      visits_.pop_back();
      if (!visits_.empty()) {
        const std::int32_t parent = visits_.back().signature;
        low_[at(parent)] = std::min(low_[at(parent)], low_[at(s)]);
      }
    }
  }
}

}  // namespace espalier::batch
