#include "bench/workloads/tree_lstm.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "bench/limit/tree_lstm.h"
#include "bench/suite/data_workload.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/network.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/gather_rows.h"
#include "espalier/ops/row.h"

namespace espalier::bench {
namespace {

using Data = std::shared_ptr<const DataSet<BinaryTree>>;

class TreeLstmNetwork : public Network {
 public:
  TreeLstmNetwork(Data data, const TreeLstmSizes& sizes)
      : data_(std::move(data)),
        words_(model_ / "words", data_->words, sizes.embedding),
        cell_(model_ / "cell", sizes.embedding, sizes.hidden),
        classify_(model_ / "classify", sizes.hidden, data_->labels) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    thread_local std::vector<Expr> h;
    h.clear();
    for (const nn::TreeState& state : encode(graph, tree(instance))) h.push_back(state.h);
    losses.push_back(loss(tree(instance), rows(h)));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(classify_(encode(graph, tree(instance)).back().h));
  }

 protected:
  const BinaryTree& tree(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }
  /// Of all nodes, whose states are the rows of `states`.
  Expr loss(const BinaryTree& tree, const Expr& states) const {
    thread_local std::vector<std::int32_t> labels;
    labels.clear();
    for (const BinaryTree::Node& node : tree.nodes) labels.push_back(node.label);
    return cross_entropy_each(classify_(states), labels);
  }

  Data data_;
  nn::Embedding words_;
  nn::BinaryTreeLstm cell_;
  nn::Linear classify_;

 private:
  /// The states of all nodes, the root's last. Valid until the next call.
  const std::vector<nn::TreeState>& encode(Graph& graph, const BinaryTree& tree) const {
    thread_local std::vector<nn::TreeState> states;  // of one instance; its memory serves the next
    states.clear();
    for (const BinaryTree::Node& node : tree.nodes)
      states.push_back(node.is_leaf() ? cell_.leaf(words_(graph, node.word))
                                      : cell_(states[static_cast<std::size_t>(node.left)],
                                              states[static_cast<std::size_t>(node.right)]));
    return states;
  }
};

/// The same with a node for all of a tree.
class TreeLstmRecursion : public TreeLstmNetwork {
 public:
  using TreeLstmNetwork::TreeLstmNetwork;

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(loss(tree(instance), states(graph, tree(instance))));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    const Expr all = states(graph, tree(instance));
    outputs.push_back(classify_(row(all, all.rows() - 1)));
  }

 private:
  Expr states(Graph& graph, const BinaryTree& tree) const {
    thread_local std::vector<std::int32_t> words;
    thread_local Structure structure;
    words.clear();
    structure.clear();
    for (const BinaryTree::Node& node : tree.nodes)
      if (node.is_leaf()) {
        structure.add(0, static_cast<std::int32_t>(words.size()));
        words.push_back(node.word);
      } else {
        structure.add(1, Structure::kNoX, {node.left, node.right});
      }
    return cell_.rows(words_.each(graph, words), structure).h;
  }
};

class TreeLstmWorkload : public DataWorkload<BinaryTree> {
 public:
  TreeLstmWorkload(Data data, const TreeLstmSizes& sizes)
      : DataWorkload("B1", "binary Tree-LSTM on sentiment trees", fmt::format("{}/{}", sizes.embedding, sizes.hidden),
                     std::move(data)),
        sizes_(sizes) {}

  std::int32_t nodes(std::int32_t number) const override {
    return static_cast<std::int32_t>(instance(number).nodes.size());
  }
  bool has_limit() const override { return true; }

  std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const override {
    std::unique_ptr<Network> network;
    if (variant == Variant::kRecursion)
      network = std::make_unique<TreeLstmRecursion>(data(), sizes_);
    else
      network = std::make_unique<TreeLstmNetwork>(data(), sizes_);
    if (variant == Variant::kLimit || variant == Variant::kLimitDedupe)
      return std::make_unique<TreeLstmLimit>(data(), network->model(), variant == Variant::kLimitDedupe);
    return make_espalier_runner(std::move(network), *this, variant, leaves);
  }

 private:
  TreeLstmSizes sizes_;
};

}  // namespace

std::unique_ptr<Workload> tree_lstm_workload(Data data, const TreeLstmSizes& sizes) {
  return std::make_unique<TreeLstmWorkload>(std::move(data), sizes);
}

}  // namespace espalier::bench
