/// ParserNet: a greedy transition parser with BiLSTM features (Kiperwasser and Goldberg, 2016).
///
///   x_t       the vector of word t and those of its affixes and its shape, side by side
///   state_t   a deep BiLSTM over x, with a token before the sentence, which stands for nothing, and the root behind it
///   scores    tanh([state of s2, s1, s0, b0] W_h + b_h) W_o + b_o        of a shift, and of left and right by label
/// s0 is the top of the stack, b0 the first word of the buffer. Training minimises the cross entropy of the moves of an
/// oracle: static, over the moves of the right parse; or dynamic, over those of the parse that the network itself
/// prefers now and then (Goldberg and Nivre, 2013), which needs the scores of each move before the next is recorded.
///
/// Differences from Kiperwasser and Goldberg: affixes instead of tags, cross entropy instead of a margin, one layer for
/// moves and labels.
///
/// Thread safety: as Model.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/control/task.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/models/arc_hybrid.h"
#include "espalier/models/settings.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"

namespace espalier::models {

struct ESPALIER_EXPORT ParserSettings {
  std::int32_t embedding = 100;
  std::int32_t affix_embedding = 32;
  std::int32_t hidden = 128;  // in each direction
  std::int32_t layers = 2;
  std::int32_t middle = 128;
  double dropout = 0.33;
  std::string oracle = "static";
  double explore = 0.1;  // with the dynamic oracle: how often a wrong move is made

  void list(SettingList& list);
};

/// A sentence to be parsed: per token, with the one before the sentence and the root, the number of its word and of
/// each of its affixes.
struct ParserSentence {
  std::vector<std::int32_t> words;
  std::vector<std::vector<std::int32_t>> affixes;
  /// For words 1 to n: the right heads, n + 1 for the root, and the numbers of their labels, -1 for an unknown one.
  /// Empty if they are not known.
  std::vector<std::int32_t> heads;
  std::vector<std::int32_t> labels;
  /// The heads to learn: those of a projective tree.
  std::vector<std::int32_t> projective;

  std::int32_t word_count() const { return static_cast<std::int32_t>(words.size()) - 2; }
};

struct ParserCounts {
  std::int32_t words = 0;
  std::vector<std::int32_t> affixes;  // of each kind
  std::int32_t labels = 0;
};

/// Heads and labels of words 1 to n; entry 0 stands for nothing.
struct Parse {
  std::vector<std::int32_t> heads;
  std::vector<std::int32_t> labels;
};

class ESPALIER_EXPORT ParserNet {
 public:
  ParserNet(Model& model, const ParserSettings& settings, const ParserCounts& counts);
  ParserNet(const ParserNet&) = delete;
  ParserNet& operator=(const ParserNet&) = delete;

  /// The parse that makes the best move each time.
  Task<Parse> parse(Graph& graph, const ParserSentence& sentence) const;
  /// The cross entropy over the moves of the right parse, many rows.
  Expr loss(Graph& graph, const ParserSentence& sentence) const;
  /// The same along a parse that makes its own mistakes, in one element.
  Task<Expr> explored_loss(Graph& graph, const ParserSentence& sentence) const;

 private:
  static constexpr std::size_t kFeatures = 4;
  using Features = std::array<std::int32_t, kFeatures>;

  Expr states(Graph& graph, const ParserSentence& sentence) const;
  Expr scores(const Expr& states, const ArcHybrid& state) const;
  static Features features(const ArcHybrid& state);
  /// The number of a move in the scores.
  std::int32_t number(ArcHybrid::Move move, std::int32_t label) const;
  std::int32_t best(const Tensor& scores, const ArcHybrid& state, std::span<const std::uint8_t> is_right) const;
  void make(ArcHybrid& state, std::int32_t number) const;
  std::vector<std::uint8_t> right_moves(const ArcHybrid& state, const ParserSentence& sentence) const;

  ParserSettings settings_;
  std::int32_t labels_;
  nn::Embedding words_;
  std::vector<nn::Embedding> affixes_;
  std::vector<nn::BiLstm> layers_;
  nn::Linear middle_;
  nn::Linear moves_;
  Cell<Expr(Expr)> score_{"moves", [this](Expr x) { return moves_(tanh_of_middle(x)); }};

  Expr tanh_of_middle(const Expr& x) const;
};

}  // namespace espalier::models
