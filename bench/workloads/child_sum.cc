/// B4: a Child-Sum Tree-LSTM (Tai et al., 2015, section 3.1) on dependency trees: a word and a label at every node.
/// Equations: espalier/nn/child_sum_tree_lstm.h.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/gather_rows.h"

namespace espalier::bench {
namespace {

class ChildSumNetwork : public Network {
 public:
  ChildSumNetwork(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes)
      : data_(std::move(data)),
        words_(model_ / "words", data_->words, sizes.embedding),
        cell_(model_ / "cell", sizes.embedding, sizes.hidden),
        classify_(model_ / "classify", sizes.hidden, data_->labels) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    const DependencyTree& tree = at(instance);
    std::vector<Expr> h;
    for (const nn::TreeState& state : encode(graph, tree)) h.push_back(state.h);
    std::vector<std::int32_t> labels;
    for (const DependencyTree::Node& node : tree.nodes) labels.push_back(node.label);
    losses.push_back(cross_entropy_each(classify_(rows(h)), labels));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(classify_(encode(graph, at(instance)).back().h));
  }

 private:
  const DependencyTree& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  std::vector<nn::TreeState> encode(Graph& graph, const DependencyTree& tree) const {
    std::vector<nn::TreeState> states;
    std::vector<nn::TreeState> children;
    states.reserve(tree.nodes.size());
    for (const DependencyTree::Node& node : tree.nodes) {
      children.clear();
      for (const std::int32_t child : node.children) children.push_back(states[static_cast<std::size_t>(child)]);
      const Expr x = words_(graph, node.word);
      states.push_back(children.empty() ? cell_.leaf(x) : cell_(x, children));
    }
    return states;
  }

  SharedData<DependencyTree> data_;
  nn::Embedding words_;
  nn::ChildSumTreeLstm cell_;
  nn::Linear classify_;
};

}  // namespace

std::unique_ptr<Network> child_sum_network(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<ChildSumNetwork>(std::move(data), sizes);
}

std::unique_ptr<Workload> child_sum_workload(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<NetworkWorkload<DependencyTree>>(
      "B4", "child-sum Tree-LSTM on dependency trees", fmt::format("{}/{}", sizes.embedding, sizes.hidden),
      std::move(data), [](const DependencyTree& tree) { return tree.nodes.size(); },
      [sizes](const SharedData<DependencyTree>& shared) { return child_sum_network(shared, sizes); });
}

}  // namespace espalier::bench
