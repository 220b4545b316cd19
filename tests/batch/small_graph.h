/// Graphs of integers written by hand or drawn without any shape in mind, and schedules as text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

/// Owns what a Graph views. Signatures are letters when written by hand: 'a' is 0.
class SmallGraph {
 public:
  std::int32_t add(std::int32_t signature, const std::vector<std::int32_t>& inputs) {
    signature_.push_back(signature);
    signatures_ = std::max(signatures_, signature + 1);
    inputs_.insert(inputs_.end(), inputs.begin(), inputs.end());
    input_begin_.push_back(static_cast<std::int32_t>(inputs_.size()));
    return static_cast<std::int32_t>(signature_.size()) - 1;
  }
  std::int32_t add(char letter, const std::vector<std::int32_t>& inputs = {}) { return add(letter - 'a', inputs); }
  /// A chain, one letter a node; gives its last node.
  std::int32_t chain(std::string_view letters) {
    std::int32_t last = -1;
    for (char letter : letters) last = last < 0 ? add(letter) : add(letter, {last});
    return last;
  }

  Graph view() const { return {signature_, signatures_, input_begin_, inputs_}; }
  std::int32_t size() const { return static_cast<std::int32_t>(signature_.size()); }

  /// A schedule as a person would write it: "a3 b1 b2": letter and rows of each step.
  std::string text(const Schedule& schedule) const {
    std::string text;
    for (std::int64_t i = 0; i < schedule.steps(); ++i) {
      const auto step = schedule.step(i);
      if (i > 0) text += ' ';
      text += static_cast<char>('a' + signature_[static_cast<std::size_t>(step[0])]);
      text += std::to_string(step.size());
    }
    return text;
  }

 private:
  std::vector<std::int32_t> signature_;
  std::int32_t signatures_ = 0;
  std::vector<std::int32_t> input_begin_{0};
  std::vector<std::int32_t> inputs_;
};

/// `size` nodes of `signatures` kinds; each takes up to three inputs from the `reach` nodes before it.
inline SmallGraph random_dag(Random& random, std::int32_t size, std::int32_t signatures, std::int32_t reach) {
  SmallGraph graph;
  for (std::int32_t v = 0; v < size; ++v) {
    std::vector<std::int32_t> inputs;
    const auto count = v == 0 ? 0 : random.below(4);
    for (std::int64_t i = 0; i < count; ++i)
      inputs.push_back(v - 1 - static_cast<std::int32_t>(random.below(std::min(v, reach))));
    graph.add(static_cast<std::int32_t>(random.below(signatures)), inputs);
  }
  return graph;
}

}  // namespace espalier::batch
