#include "espalier/models/sentiment_net.h"

#include <algorithm>

#include "espalier/base/error.h"
#include "espalier/models/tree_encoders.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/all.h"

namespace espalier::models {

void SentimentSettings::list(SettingList& list) {
  list.add("cell", cell, "what combines the children of a node", tree_cells());
  list.add("classes", classes, "5, or 2: without neutral phrases, very and somewhat taken together", 2, 5);
  list.add("embedding", embedding, "size of word vectors", 1, 4096);
  list.add("hidden", hidden, "size of a node's state", 1, 4096);
  list.add("loss", loss, "nodes whose labels are learnt", {"every", "root"});
  list.add("dropout", dropout, "dropout of states before they are classified", 0, 0.99);
  list.add("word_dropout", word_dropout, "dropout of elements of word vectors", 0, 0.99);
  list.add("freeze_words", freeze_words, "keep word vectors as they are");
}

class SentimentNet::Head {
 public:
  Head(Model& model, const SentimentSettings& settings)
      : classify_(model / "classify", settings.hidden, settings.classes), dropout_(settings.dropout) {}
  Expr operator()(const Expr& states) const { return classify_(dropout(states, dropout_)); }

 private:
  nn::Linear classify_;
  double dropout_;
};

SentimentNet::SentimentNet(Model& model, const SentimentSettings& settings, std::int32_t words,
                           const std::optional<Tensor>& vectors, Form form)
    : settings_(settings), form_(form) {
  const SettingList checked = settings_of(settings_);
  checked.assign(checked.to_value());  // refuses what is out of range
  encoder_ = make_tree_encoder(model, settings_, words, vectors);
  head_ = std::make_unique<Head>(model, settings_);
}
SentimentNet::~SentimentNet() = default;

const std::vector<Expr>& SentimentNet::states(Graph& graph, const BinaryTree& tree) const {
  thread_local std::vector<Expr> states;  // of one instance; its memory serves the next
  states.clear();
  if (form_ == Form::kRows)
    states.push_back(encoder_->rows(graph, tree));
  else
    encoder_->nodes(graph, tree, states);
  return states;
}

Expr SentimentNet::root(const std::vector<Expr>& states, const BinaryTree& tree) const {
  if (states.size() == tree.nodes.size()) return states.back().has_many_rows() ? row(states.back(), 0) : states.back();
  return row(states.back(), static_cast<std::int32_t>(tree.nodes.size()) - 1);
}

Expr SentimentNet::scores(Graph& graph, const BinaryTree& tree) const {
  return (*head_)(root(states(graph, tree), tree));
}

Expr SentimentNet::loss(Graph& graph, const BinaryTree& tree, Expr* scores) const {
  const std::vector<Expr>& all = states(graph, tree);
  if (settings_.loss == "root") {
    const std::int32_t label = tree.nodes.back().label;
    if (label == kNoLabel)
      throw UsageError("sentiment: the root of a tree has no label, and its label is to be learnt");
    const Expr of_root = (*head_)(root(all, tree));
    if (scores != nullptr) *scores = of_root;
    return cross_entropy(of_root, label);
  }
  thread_local std::vector<std::int32_t> labels;
  thread_local std::vector<float> counts;  // 1 for a node with a label, else 0
  labels.clear();
  counts.clear();
  for (const BinaryTree::Node& node : tree.nodes) {
    labels.push_back(std::max(node.label, 0));
    counts.push_back(node.label == kNoLabel ? 0.0F : 1.0F);
  }
  const auto unlabelled = std::count(counts.begin(), counts.end(), 0.0F);
  if (unlabelled == std::ssize(counts)) throw UsageError("sentiment: no node of a tree has a label");
  const Expr of_all = (*head_)(form_ == Form::kRows ? all[0] : rows(all));
  if (scores != nullptr) *scores = row(of_all, of_all.row_count() - 1);
  const Expr losses = cross_entropy_rows(of_all, labels);
  return unlabelled == 0 ? losses : losses * graph.rows({}, counts);
}

}  // namespace espalier::models
