#include "espalier/models/relatedness_net.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "espalier/base/error.h"
#include "espalier/ops/all.h"

namespace espalier::models {

DependencyEncoder::DependencyEncoder(Model& model, std::int32_t words, std::int32_t embedding, std::int32_t hidden,
                                     const std::optional<Tensor>& vectors, bool freeze_words, double word_dropout,
                                     Form form)
    : words_(model / "words", words, embedding, {.pretrained = vectors, .frozen = freeze_words}),
      cell_(model / "cell", embedding, hidden),
      word_dropout_(word_dropout),
      form_(form) {}

Expr DependencyEncoder::along(Graph& graph, const DependencyTree& tree) const {
  thread_local std::vector<std::int32_t> words;  // these reuse their memory
  thread_local Structure structure;
  words.clear();
  structure.clear();
  for (const DependencyTree::Node& node : tree.nodes) {
    structure.add(nn::ChildSumTreeLstm::kNode, structure.size(), node.children);
    words.push_back(node.word);
  }
  return cell_.rows(dropout(words_.rows(graph, words), word_dropout_), structure).h;
}

const std::vector<Expr>& DependencyEncoder::states(Graph& graph, const DependencyTree& tree) const {
  thread_local std::vector<Expr> result;
  result.clear();
  if (form_ == Form::kRows) {
    result.push_back(along(graph, tree));
    return result;
  }
  std::vector<nn::TreeState> states;
  std::vector<nn::TreeState> children;
  states.reserve(tree.nodes.size());
  for (const DependencyTree::Node& node : tree.nodes) {
    children.clear();
    for (const std::int32_t child : node.children) children.push_back(states[static_cast<std::size_t>(child)]);
    const Expr x = dropout(words_(graph, node.word), word_dropout_);
    states.push_back(children.empty() ? cell_.leaf(x) : cell_(x, children));
    result.push_back(states.back().h);
  }
  return result;
}

Expr DependencyEncoder::root(Graph& graph, const DependencyTree& tree) const {
  if (tree.nodes.empty()) throw UsageError("dependency tree: there are no nodes");
  const std::vector<Expr>& all = states(graph, tree);
  return form_ == Form::kRows ? row(all[0], all[0].row_count() - 1) : all.back();
}

namespace {

RelatednessSettings checked_relatedness(RelatednessSettings settings) {
  const SettingList list = settings_of(settings);
  list.assign(list.to_value());
  return settings;
}

}  // namespace

void RelatednessSettings::list(SettingList& list) {
  list.add("embedding", embedding, "size of word vectors", 1, 4096);
  list.add("hidden", hidden, "size of a node's state", 1, 4096);
  list.add("similarity", similarity, "size of the layer that compares two sentences", 1, 4096);
  list.add("scores", scores, "the highest score; the lowest is 1", 2, 100);
  list.add("dropout", dropout, "dropout of elements of word vectors", 0, 0.99);
  list.add("freeze_words", freeze_words, "keep word vectors as they are");
}

RelatednessNet::RelatednessNet(Model& model, const RelatednessSettings& settings, std::int32_t words,
                               const std::optional<Tensor>& vectors, Form form)
    : settings_(checked_relatedness(settings)),
      encoder_(model, words, settings.embedding, settings.hidden, vectors, settings.freeze_words, settings.dropout,
               form),
      product_(model / "product", settings.hidden, settings.similarity),
      difference_(model / "difference", settings.hidden, settings.similarity, {.bias = false}),
      classify_(model / "classify", settings.similarity, settings.scores) {}

Expr RelatednessNet::distribution(Graph& graph, const TreePair& pair) const {
  const Expr a = encoder_.root(graph, pair.a);
  const Expr b = encoder_.root(graph, pair.b);
  return log_softmax(classify_(sigmoid(product_(a * b) + difference_(abs(a - b)))));
}

Expr RelatednessNet::loss(const Expr& distribution, double score) const {
  const std::vector<float> target = sparse_distribution(score, settings_.scores);
  double entropy = 0;
  for (const float share : target)
    if (share > 0) entropy -= static_cast<double>(share) * std::log(static_cast<double>(share));
  Graph& graph = distribution.graph();
  return negate(dot(graph.input({settings_.scores}, target), distribution) + graph.constant(entropy));
}

double RelatednessNet::score_of(const Tensor& distribution) {
  double score = 0;
  for (std::int64_t k = 0; k < distribution.elements(); ++k)
    score += static_cast<double>(k + 1) * std::exp(distribution.at(k));
  return score;
}

std::vector<float> sparse_distribution(double score, std::int32_t count) {
  if (!(score >= 1 && score <= count))
    throw UsageError(fmt::format("relatedness: scores are from 1 to {}, and one is {}", count, score));
  std::vector<float> shares(static_cast<std::size_t>(count), 0);
  const auto below = static_cast<std::size_t>(std::floor(score));
  const double above = score - std::floor(score);
  shares[below - 1] = static_cast<float>(1 - above);
  if (above > 0) shares[below] = static_cast<float>(above);
  return shares;
}

}  // namespace espalier::models
