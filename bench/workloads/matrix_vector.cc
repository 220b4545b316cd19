/// B8: a matrix-vector recursive network (Socher et al., 2012) on sentiment trees: a vector v and a matrix M at every
/// node.
///
/// A leaf looks both up. An inner node has v = tanh([M_l v_r, M_r v_l] W_v + b_v) and M = W_M [M_l; M_r] + b_M, where
/// W_M is [h, 2h] and the two matrices lie one above the other. Cross-entropy of v W + b at every node.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/models/sentiment_net.h"

namespace espalier::bench {
namespace {

class MatrixVectorNetwork : public Network {
 public:
  MatrixVectorNetwork(SharedData<BinaryTree> data, std::int32_t hidden)
      : data_(std::move(data)),
        net_(model_, {.cell = "mv_rnn", .classes = data_->labels, .embedding = hidden, .hidden = hidden, .dropout = 0},
             data_->words, std::nullopt, models::Form::kNodes) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(net_.loss(graph, at(instance)));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(net_.scores(graph, at(instance)));
  }

 private:
  const BinaryTree& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  SharedData<BinaryTree> data_;
  models::SentimentNet net_;
};

}  // namespace

std::unique_ptr<Network> matrix_vector_network(SharedData<BinaryTree> data, std::int32_t hidden) {
  return std::make_unique<MatrixVectorNetwork>(std::move(data), hidden);
}

std::unique_ptr<Workload> matrix_vector_workload(SharedData<BinaryTree> data, std::int32_t hidden) {
  return std::make_unique<NetworkWorkload<BinaryTree>>(
      "B8", "matrix-vector network on sentiment trees", std::to_string(hidden), std::move(data),
      [](const BinaryTree& tree) { return tree.nodes.size(); },
      [hidden](const SharedData<BinaryTree>& shared) { return matrix_vector_network(shared, hidden); });
}

}  // namespace espalier::bench
