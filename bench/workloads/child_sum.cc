/// B4: a Child-Sum Tree-LSTM (Tai et al., 2015, section 3.1) on dependency trees: a word and a label at every node.
/// Equations: espalier/nn/child_sum_tree_lstm.h.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/models/relatedness_net.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/gather_rows.h"

namespace espalier::bench {
namespace {

class ChildSumNetwork : public Network {
 public:
  ChildSumNetwork(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes, models::Form form)
      : data_(std::move(data)),
        encoder_(model_, data_->words, sizes.embedding, sizes.hidden, std::nullopt, /*freeze_words=*/false,
                 /*word_dropout=*/0, form),
        classify_(model_ / "classify", sizes.hidden, data_->labels),
        form_(form) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    const DependencyTree& tree = at(instance);
    const std::vector<Expr>& states = encoder_.states(graph, tree);
    std::vector<std::int32_t> labels;
    for (const DependencyTree::Node& node : tree.nodes) labels.push_back(node.label);
    losses.push_back(cross_entropy_rows(classify_(form_ == models::Form::kRows ? states[0] : rows(states)), labels));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(classify_(encoder_.root(graph, at(instance))));
  }

 private:
  const DependencyTree& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  SharedData<DependencyTree> data_;
  models::DependencyEncoder encoder_;
  nn::Linear classify_;
  models::Form form_;
};

}  // namespace

std::unique_ptr<Network> child_sum_network(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<ChildSumNetwork>(std::move(data), sizes, models::Form::kNodes);
}

std::unique_ptr<Network> child_sum_recursion(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<ChildSumNetwork>(std::move(data), sizes, models::Form::kRows);
}

std::unique_ptr<Workload> child_sum_workload(SharedData<DependencyTree> data, const EmbeddingAndHidden& sizes) {
  return std::make_unique<NetworkWorkload<DependencyTree>>(
      "B4", "child-sum Tree-LSTM on dependency trees", fmt::format("{}/{}", sizes.embedding, sizes.hidden),
      std::move(data), [](const DependencyTree& tree) { return tree.nodes.size(); },
      [sizes](const SharedData<DependencyTree>& shared) { return child_sum_network(shared, sizes); },
      [sizes](const SharedData<DependencyTree>& shared) { return child_sum_recursion(shared, sizes); });
}

}  // namespace espalier::bench
