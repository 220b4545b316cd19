#include "espalier/models/tree_encoders.h"

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/init.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/tree_gru.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

/// The words of a tree as rows, and its shape as data. Leaves are of kind 0, inner nodes of kind 1.
struct TreeRows {
  std::vector<std::int32_t> words;
  Structure structure;

  void set(const BinaryTree& tree) {
    words.clear();
    structure.clear();
    for (const BinaryTree::Node& node : tree.nodes)
      if (node.is_leaf()) {
        structure.add(KindId{0}, static_cast<std::int32_t>(words.size()));
        words.push_back(node.word);
      } else {
        structure.add(KindId{1}, Structure::kNoX, {node.left, node.right});
      }
  }
};

/// What the encoders have in common that look up one vector per word.
class WordTreeEncoder : public TreeEncoder {
 public:
  WordTreeEncoder(Model& model, const SentimentSettings& settings, std::int32_t words,
                  const std::optional<Tensor>& vectors)
      : words_(model / "words", words, settings.embedding, {.pretrained = vectors, .frozen = settings.freeze_words}),
        word_dropout_(settings.word_dropout) {}

  Expr rows(Graph& graph, const BinaryTree& tree) const final {
    thread_local TreeRows rows;  // reuses its memory
    rows.set(tree);
    return along(dropout(words_.rows(graph, rows.words), word_dropout_), rows.structure);
  }

 protected:
  Expr word(Graph& graph, std::int32_t number) const { return dropout(words_(graph, number), word_dropout_); }
  /// The states of all nodes, from the vectors of the leaves.
  virtual Expr along(const Expr& x, const Structure& structure) const = 0;

 private:
  nn::Embedding words_;
  double word_dropout_;
};

class LstmEncoder : public WordTreeEncoder {
 public:
  LstmEncoder(Model& model, const SentimentSettings& settings, std::int32_t words, const std::optional<Tensor>& vectors)
      : WordTreeEncoder(model, settings, words, vectors), cell_(model / "cell", settings.embedding, settings.hidden) {}

  void nodes(Graph& graph, const BinaryTree& tree, std::vector<Expr>& states) const override {
    thread_local std::vector<nn::TreeState> all;
    all.clear();
    for (const BinaryTree::Node& node : tree.nodes)
      all.push_back(node.is_leaf()
                        ? cell_.leaf(word(graph, node.word))
                        : cell_(all[static_cast<std::size_t>(node.left)], all[static_cast<std::size_t>(node.right)]));
    for (const nn::TreeState& state : all) states.push_back(state.h);
  }

 private:
  Expr along(const Expr& x, const Structure& structure) const override { return cell_.rows(x, structure).h; }

  nn::BinaryTreeLstm cell_;
};

class GruEncoder : public WordTreeEncoder {
 public:
  GruEncoder(Model& model, const SentimentSettings& settings, std::int32_t words, const std::optional<Tensor>& vectors)
      : WordTreeEncoder(model, settings, words, vectors),
        project_(model / "project", settings.embedding, settings.hidden),
        cell_(model / "cell", settings.hidden) {}

  void nodes(Graph& graph, const BinaryTree& tree, std::vector<Expr>& states) const override {
    for (const BinaryTree::Node& node : tree.nodes)
      states.push_back(node.is_leaf() ? cell_.leaf(project_(word(graph, node.word)))
                                      : cell_(states[static_cast<std::size_t>(node.left)],
                                              states[static_cast<std::size_t>(node.right)]));
  }

 private:
  Expr along(const Expr& x, const Structure& structure) const override { return cell_.rows(project_(x), structure); }

  nn::Linear project_;
  nn::TreeGru cell_;
};

class RnnEncoder : public WordTreeEncoder {
 public:
  RnnEncoder(Model& model, const SentimentSettings& settings, std::int32_t words, const std::optional<Tensor>& vectors)
      : WordTreeEncoder(model, settings, words, vectors),
        leaf_(model / "leaf", settings.embedding, settings.hidden),
        node_(model / "node", 2 * settings.hidden, settings.hidden) {}

  void nodes(Graph& graph, const BinaryTree& tree, std::vector<Expr>& states) const override {
    for (const BinaryTree::Node& node : tree.nodes)
      states.push_back(node.is_leaf() ? leaf_cell_(word(graph, node.word))
                                      : node_cell_(states[static_cast<std::size_t>(node.left)],
                                                   states[static_cast<std::size_t>(node.right)]));
  }

 private:
  Expr along(const Expr& x, const Structure& structure) const override { return recursion_(x, structure)[0]; }

  using In = std::span<const Expr>;
  nn::Linear leaf_;
  nn::Linear node_;
  Cell<Expr(Expr)> leaf_cell_{"leaf", [this](Expr x) { return tanh(leaf_(x)); }};
  Cell<Expr(Expr, Expr)> node_cell_{"node", [this](Expr left, Expr right) {
                                      return tanh(node_(concat({left, right}, 0)));
                                    }};
  Recursion recursion_{"tree_rnn",
                       {{"leaf", 0, [this](In in) { return tanh(leaf_(in[0])); }},
                        {"node", 2, [this](In in) { return tanh(node_(concat(in, 0))); }, TakesX::kNo}}};
};

class MatrixVectorEncoder : public TreeEncoder {
 public:
  MatrixVectorEncoder(Model& model, const SentimentSettings& settings, std::int32_t words,
                      const std::optional<Tensor>& vectors)
      : hidden_(settings.hidden),
        vectors_(model / "vectors", words, hidden_, {.pretrained = vectors, .frozen = settings.freeze_words}),
        // So that M v is about as long as v.
        matrices_(model / "matrices", words, hidden_ * hidden_,
                  {.init = init::normal(0, 1 / std::sqrt(static_cast<double>(hidden_)))}),
        combine_vectors_(model / "combine_vectors", 2 * hidden_, hidden_),
        combine_matrices_(model.add("combine_matrices.W", {hidden_, 2 * hidden_}, init::glorot())),
        matrix_bias_(model.add("combine_matrices.b", {hidden_, hidden_}, init::zeros())) {}

  /// Matrices of nodes are states too, which a recursion would have to keep for all nodes: each node is recorded.
  Expr rows(Graph& graph, const BinaryTree& tree) const override {
    std::vector<Expr> states;
    nodes(graph, tree, states);
    return espalier::rows(states);
  }

  void nodes(Graph& graph, const BinaryTree& tree, std::vector<Expr>& states) const override {
    std::vector<Meaning> meanings;
    meanings.reserve(tree.nodes.size());
    for (const BinaryTree::Node& node : tree.nodes)
      meanings.push_back(node.is_leaf() ? look_up(graph, node.word)
                                        : combine(meanings[static_cast<std::size_t>(node.left)],
                                                  meanings[static_cast<std::size_t>(node.right)]));
    for (const Meaning& meaning : meanings) states.push_back(meaning.vector);
  }

 private:
  struct Meaning {
    Expr vector;
    Expr matrix;
  };

  Meaning look_up(Graph& graph, std::int32_t word) const {
    return {vectors_(graph, word), reshape(matrices_(graph, word), {hidden_, hidden_})};
  }
  Meaning combine(const Meaning& left, const Meaning& right) const {
    const Expr crossed = concat({matvec(left.matrix, right.vector), matvec(right.matrix, left.vector)});
    return {tanh(combine_vectors_(crossed)),
            add(matmul(combine_matrices_, concat({left.matrix, right.matrix})), matrix_bias_)};
  }

  std::int32_t hidden_;
  nn::Embedding vectors_;
  nn::Embedding matrices_;
  nn::Linear combine_vectors_;
  const Parameter& combine_matrices_;
  const Parameter& matrix_bias_;
};

}  // namespace

std::vector<std::string> tree_cells() { return {"tree_lstm", "tree_gru", "tree_rnn", "mv_rnn"}; }

std::unique_ptr<const TreeEncoder> make_tree_encoder(Model& model, const SentimentSettings& settings,
                                                     std::int32_t words, const std::optional<Tensor>& vectors) {
  if (settings.cell == "tree_lstm") return std::make_unique<LstmEncoder>(model, settings, words, vectors);
  if (settings.cell == "tree_gru") return std::make_unique<GruEncoder>(model, settings, words, vectors);
  if (settings.cell == "tree_rnn") return std::make_unique<RnnEncoder>(model, settings, words, vectors);
  return std::make_unique<MatrixVectorEncoder>(model, settings, words, vectors);
}

}  // namespace espalier::models
