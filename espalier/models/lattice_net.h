/// LatticeNet: a tag for every character of a sentence that reads the words of a lexicon beside the characters: the
/// lattice LSTM of Zhang and Yang (2018) for named entities in Chinese.
///
/// gates, for a character x_j with the state (h, c) before it, and words x_w that end with it, each with the state
/// (h_b, c_b) before its first character:
///   word       [i f u] = x_w W + h_b U + b;   c_w = sigmoid(f) c_b + sigmoid(i) tanh(u)
///   its gate   g_w = sigmoid(x_j W_g + c_w U_g + b_g)
///   character  [i o u] = x_j W + h U + b, with i = sigmoid(i)
///              without words  c_j = (1 - i) c + i tanh(u)
///              with words     c_j = (e^i tanh(u) + sum over w of e^g_w c_w) / (e^i + sum over w of e^g_w)
///              h_j = sigmoid(o) tanh(c_j)
/// sum, a simpler form (Chen et al., 2023): a character and a word each apply an LSTM cell, with weights of their own,
/// to the state before them; the state after a character is the sum, of h and of c, over all that end there.
///
/// With `bidirectional`, a second lattice runs from the end, and states are side by side. Scores are linear in the
/// state; the loss is that of a CRF over the tags, or the cross entropy summed over the characters.
///
/// Differences from the paper: the character's own words of one letter are not looked up; characters and words start
/// from random vectors, of one size, unless vectors are given.
///
/// Thread safety: as Model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/models/crf.h"
#include "espalier/models/form.h"
#include "espalier/models/instances.h"
#include "espalier/models/settings.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/tensor/tensor.h"

namespace espalier::models {

struct ESPALIER_EXPORT LatticeSettings {
  std::string merge = "gates";  // or "sum"
  std::int32_t embedding = 50;
  std::int32_t hidden = 100;  // in each direction
  bool bidirectional = true;
  bool crf = true;
  double dropout = 0.5;  // of characters, words and states

  void list(SettingList& list);
};

struct LatticeCounts {
  std::int32_t characters = 0;
  std::int32_t words = 0;
  std::int32_t tags = 0;
};

/// One direction.
class LatticeEncoder {
 public:
  virtual ~LatticeEncoder() = default;
  /// The states h after each character, of a lattice with vectors of its characters and of its words (both many rows;
  /// the latter is missing if there are no words).
  virtual Expr rows(const Lattice& lattice, const Expr& characters, const std::optional<Expr>& words) const = 0;
  /// The same, recorded node by node: one Expr per character and word in, one per character out.
  virtual std::vector<Expr> nodes(Graph& graph, const Lattice& lattice, std::span<const Expr> characters,
                                  std::span<const Expr> words) const = 0;
};

class ESPALIER_EXPORT LatticeNet {
 public:
  LatticeNet(Model& model, const LatticeSettings& settings, const LatticeCounts& counts, Form form = Form::kRows);
  ~LatticeNet();

  /// The scores of the tags, many rows, one per character. Refuses (UsageError) a lattice without characters.
  Expr scores(Graph& graph, const Lattice& lattice) const;
  /// One element, or, without a CRF, one per character, to be summed.
  Expr loss(const Expr& scores, std::span<const std::int32_t> tags) const;
  /// The best tags by the value of scores().
  std::vector<std::int32_t> tags(const Tensor& scores) const;

 private:
  Expr states_as_rows(Graph& graph, const Lattice& lattice) const;
  Expr states_by_node(Graph& graph, const Lattice& lattice) const;

  LatticeSettings settings_;
  Form form_;
  nn::Embedding characters_;
  nn::Embedding words_;
  std::unique_ptr<const LatticeEncoder> forward_;
  std::unique_ptr<const LatticeEncoder> backward_;  // null without
  nn::Linear label_;
  std::optional<Crf> crf_;
};

/// The lattice read from its end: characters and words in reverse, these still sorted by their end. The k-th character
/// of the result is the k-th from the end. `order` receives, for each word of the result, its number in `lattice`.
ESPALIER_EXPORT Lattice reversed(const Lattice& lattice, std::vector<std::int32_t>& order);

}  // namespace espalier::models
