/// TaggerNet: a tag for every word of a sentence, from a bidirectional LSTM (Huang, Xu and Yu, 2015).
///
///   x_t       the vector of word t; with characters the last states of a BiLSTM over its letters, beside that vector
///             (all words: Lample et al., 2016) or instead of it (rare words: Ling et al., 2015; Neubig et al., 2017)
///   state_t   [forward_t, backward_t] of a BiLSTM over x
///   scores_t  tanh(state_t W_h + b_h) W_o + b_o, or without the middle layer state_t W_o + b_o
/// The loss is the cross entropy summed over the words, or that of a CRF over the tags (models/crf.h).
///
/// Differences from Lample et al.: words and characters start from random vectors unless vectors are given; rare words
/// are one unknown word in the vocabulary (`min_count` of the tagger), with their characters as they are.
///
/// Thread safety: as Model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/models/crf.h"
#include "espalier/models/form.h"
#include "espalier/models/instances.h"
#include "espalier/models/settings.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/tensor/tensor.h"

namespace espalier::models {

struct ESPALIER_EXPORT TaggerSettings {
  std::int32_t embedding = 100;
  std::int32_t hidden = 100;       // in each direction
  std::int32_t middle = 0;         // 0: no middle layer
  std::string characters = "all";  // words that are spelled: "all", "rare", "none"
  std::int32_t character_embedding = 25;
  std::int32_t character_hidden = 25;  // in each direction; with "rare" both together are as many as `embedding`
  bool crf = true;
  double dropout = 0.5;  // of x and of the states
  bool freeze_words = false;

  void list(SettingList& list);
};

struct TaggerCounts {
  std::int32_t words = 0;
  std::int32_t characters = 0;
  std::int32_t tags = 0;
};

class ESPALIER_EXPORT TaggerNet {
 public:
  /// `vectors` are initial vectors of the first words. Refuses (UsageError) settings outside their ranges.
  TaggerNet(Model& model, const TaggerSettings& settings, const TaggerCounts& counts,
            const std::optional<Tensor>& vectors = std::nullopt, Form form = Form::kRows);
  TaggerNet(const TaggerNet&) = delete;
  TaggerNet& operator=(const TaggerNet&) = delete;

  /// The scores of the tags, many rows, one per word. Refuses (UsageError) a sentence without words.
  Expr scores(Graph& graph, const TaggedSentence& sentence) const;
  /// One element, or, without a CRF, one per word, to be summed.
  Expr loss(const Expr& scores, std::span<const std::int32_t> tags) const;
  /// The best tags by the value of scores().
  std::vector<std::int32_t> tags(const Tensor& scores) const;

  const TaggerSettings& settings() const { return settings_; }

 private:
  Expr inputs_as_rows(Graph& graph, const TaggedSentence& sentence) const;
  std::vector<Expr> spelled_as_rows(Graph& graph, const TaggedSentence& sentence) const;
  std::vector<Expr> inputs_by_node(Graph& graph, const TaggedSentence& sentence) const;
  Expr spelled(Graph& graph, std::span<const std::int32_t> characters) const;
  Expr score(const Expr& state) const;

  TaggerSettings settings_;
  Form form_;
  nn::Embedding words_;
  std::optional<nn::Embedding> characters_;
  std::optional<nn::BiLstm> spell_;
  std::optional<Recursion> spell_rows_;
  nn::BiLstm lstm_;
  std::optional<nn::Linear> middle_;
  nn::Linear classify_;
  std::optional<Crf> crf_;
  Cell<Expr(Expr)> score_{"scores", [this](Expr state) { return classify_(tanh_of_middle(state)); }};

  Expr tanh_of_middle(const Expr& state) const;
};

/// The column with the largest number in each row, the first of equals. x: [rows, columns]
ESPALIER_EXPORT std::vector<std::int32_t> best_of_rows(const Tensor& x);

}  // namespace espalier::models
