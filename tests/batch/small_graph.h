/// Graphs of integers written by hand or drawn at random, and schedules as text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
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

/// A minibatch of binary trees: a leaf cell (a) or an inner cell (b) a tree node, and a head (c) on each. Trees have
/// 19 leaves on average, up to 52, as the sentences of the Stanford Sentiment Treebank do; where a span is divided is
/// drawn evenly.
inline SmallGraph random_treebank(Random& random, int trees) {
  SmallGraph graph;
  for (int t = 0; t < trees; ++t) {
    const auto leaves = static_cast<std::int32_t>(2 + random.below(35));
    struct Span {
      std::int32_t begin, end;
      bool children_done;
    };
    std::vector<Span> todo{{0, leaves, false}};
    std::vector<std::int32_t> done;
    while (!todo.empty()) {
      const Span span = todo.back();
      todo.pop_back();
      if (span.end - span.begin == 1) {
        done.push_back(graph.add('a'));
        graph.add('c', {done.back()});
      } else if (span.children_done) {
        const std::int32_t right = done.back();
        done.pop_back();
        const std::int32_t left = done.back();
        done.back() = graph.add('b', {left, right});
        graph.add('c', {done.back()});
      } else {
        const auto middle = static_cast<std::int32_t>(span.begin + 1 + random.below(span.end - span.begin - 1));
        todo.push_back({span.begin, span.end, true});
        todo.push_back({middle, span.end, false});
        todo.push_back({span.begin, middle, false});
      }
    }
  }
  return graph;
}

/// A minibatch of word lattices: characters in a row, an arc cell for each character (a) and for each word that spans
/// two to four of them (b), and a ragged sum (c) of the arcs that end at a place. 44 characters and 23 words on
/// average.
inline SmallGraph random_lattices(Random& random, int lattices) {
  SmallGraph graph;
  for (int l = 0; l < lattices; ++l) {
    const auto length = static_cast<std::int32_t>(10 + random.below(69));
    std::vector<std::int32_t> state{graph.add('d')};
    for (std::int32_t end = 1; end <= length; ++end) {
      std::vector<std::int32_t> arcs{graph.add('a', {state[static_cast<std::size_t>(end - 1)]})};
      for (std::int32_t span = 2; span <= 4 && span <= end; ++span)
        if (random.uniform() < 0.18) arcs.push_back(graph.add('b', {state[static_cast<std::size_t>(end - span)]}));
      state.push_back(graph.add('c', arcs));
    }
  }
  return graph;
}

}  // namespace espalier::batch
