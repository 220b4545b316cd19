/// SequenceLayout: where every word of a minibatch of sentences has its rows.
///
/// Sentences are sorted by length, longest first, and words come time step by time step: those still active at a step
/// are the first of those at the step before. Forward, step t of a sentence is its word t; backward it is the t-th from
/// its end. So rows mean other words in the two directions: token_rows() says where a backward row is forward.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/data/instances.h"

namespace espalier::bench {

class SequenceLayout {
 public:
  void assign(const std::vector<TaggedSentence>& sentences, std::span<const std::int32_t> batch);

  std::int32_t rows() const { return static_cast<std::int32_t>(tags_.size()); }
  std::int32_t sentences() const { return steps() == 0 ? 0 : count(0); }
  std::int32_t steps() const { return static_cast<std::int32_t>(first_.size()) - 1; }
  /// The first row of a step; of step steps(), the number of rows.
  std::int32_t first(std::int32_t step) const { return first_[static_cast<std::size_t>(step)]; }
  std::int32_t count(std::int32_t step) const { return first(step + 1) - first(step); }

  std::span<const std::int32_t> words_forward() const { return forward_; }
  std::span<const std::int32_t> words_backward() const { return backward_; }
  std::span<const std::int32_t> token_rows() const { return token_rows_; }
  /// Of forward rows.
  std::span<const std::int32_t> tags() const { return tags_; }

 private:
  std::vector<std::int32_t> first_;
  std::vector<std::int32_t> forward_;
  std::vector<std::int32_t> backward_;
  std::vector<std::int32_t> token_rows_;
  std::vector<std::int32_t> tags_;
  std::vector<const TaggedSentence*> order_;
};

}  // namespace espalier::bench
