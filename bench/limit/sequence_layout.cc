#include "bench/limit/sequence_layout.h"

#include <algorithm>
#include <cstddef>

namespace espalier::bench {

void SequenceLayout::assign(const std::vector<TaggedSentence>& sentences, std::span<const std::int32_t> batch) {
  order_.clear();
  for (const std::int32_t i : batch) order_.push_back(&sentences[static_cast<std::size_t>(i)]);
  std::stable_sort(order_.begin(), order_.end(),
                   [](const TaggedSentence* a, const TaggedSentence* b) { return a->words.size() > b->words.size(); });
  first_.assign(1, 0);
  const std::size_t steps = order_.empty() ? 0 : order_.front()->words.size();
  std::size_t active = order_.size();
  for (std::size_t t = 0; t < steps; ++t) {
    while (order_[active - 1]->words.size() <= t) --active;
    first_.push_back(first_.back() + static_cast<std::int32_t>(active));
  }
  const auto rows = static_cast<std::size_t>(first_.back());
  for (std::vector<std::int32_t>* column : {&forward_, &backward_, &token_rows_, &tags_}) column->resize(rows);
  for (std::size_t rank = 0; rank < order_.size(); ++rank) {
    const TaggedSentence& sentence = *order_[rank];
    const std::size_t length = sentence.words.size();
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t row = static_cast<std::size_t>(first_[t]) + rank;
      forward_[row] = sentence.words[t];
      tags_[row] = sentence.tags[t];
      backward_[row] = sentence.words[length - 1 - t];
      token_rows_[row] = first_[length - 1 - t] + static_cast<std::int32_t>(rank);
    }
  }
}

}  // namespace espalier::bench
