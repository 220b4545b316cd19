/// B8: a matrix-vector recursive network (Socher et al., 2012) on sentiment trees: a vector v and a matrix M at every
/// node.
///
/// A leaf looks both up. An inner node has v = tanh([M_l v_r, M_r v_l] W_v + b_v) and M = W_M [M_l; M_r] + b_M, where
/// W_M is [h, 2h] and the two matrices lie one above the other. Cross-entropy of v W + b at every node.
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "bench/workloads/network_workload.h"
#include "bench/workloads/networks.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/init.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/add.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/cross_entropy.h"
#include "espalier/ops/matmul.h"
#include "espalier/ops/matvec.h"
#include "espalier/ops/reshape.h"
#include "espalier/ops/tanh.h"

namespace espalier::bench {
namespace {

class MatrixVectorNetwork : public Network {
 public:
  MatrixVectorNetwork(SharedData<BinaryTree> data, std::int32_t hidden)
      : data_(std::move(data)),
        hidden_(hidden),
        vectors_(model_ / "vectors", data_->words, hidden),
        // So that M v is about as long as v.
        matrices_(model_ / "matrices", data_->words, hidden * hidden,
                  {.init = init::normal(0, 1 / std::sqrt(static_cast<double>(hidden)))}),
        combine_vectors_(model_ / "combine_vectors", 2 * hidden, hidden),
        combine_matrices_(model_.add("combine_matrices.W", {hidden, 2 * hidden}, init::glorot())),
        matrix_bias_(model_.add("combine_matrices.b", {hidden, hidden}, init::zeros())),
        classify_(model_ / "classify", hidden, data_->labels) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    const BinaryTree& tree = at(instance);
    const std::vector<Meaning> meanings = encode(graph, tree);
    for (std::size_t v = 0; v < meanings.size(); ++v)
      losses.push_back(cross_entropy(classify_(meanings[v].vector), tree.nodes[v].label));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(classify_(encode(graph, at(instance)).back().vector));
  }

 private:
  struct Meaning {
    Expr vector;
    Expr matrix;
  };

  const BinaryTree& at(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  Meaning look_up(Graph& graph, std::int32_t word) const {
    return {vectors_(graph, word), reshape(matrices_(graph, word), {hidden_, hidden_})};
  }

  Meaning combine(const Meaning& left, const Meaning& right) const {
    const Expr crossed = concat({matvec(left.matrix, right.vector), matvec(right.matrix, left.vector)});
    return {tanh(combine_vectors_(crossed)),
            add(matmul(combine_matrices_, concat({left.matrix, right.matrix})), matrix_bias_)};
  }

  std::vector<Meaning> encode(Graph& graph, const BinaryTree& tree) const {
    std::vector<Meaning> meanings;
    meanings.reserve(tree.nodes.size());
    for (const BinaryTree::Node& node : tree.nodes)
      meanings.push_back(node.is_leaf() ? look_up(graph, node.word)
                                        : combine(meanings[static_cast<std::size_t>(node.left)],
                                                  meanings[static_cast<std::size_t>(node.right)]));
    return meanings;
  }

  SharedData<BinaryTree> data_;
  std::int32_t hidden_;
  nn::Embedding vectors_;
  nn::Embedding matrices_;
  nn::Linear combine_vectors_;
  const Parameter& combine_matrices_;
  const Parameter& matrix_bias_;
  nn::Linear classify_;
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
