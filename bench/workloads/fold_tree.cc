#include "bench/workloads/fold_tree.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/limit/fold_tree.h"
#include "bench/suite/data_workload.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/network.h"
#include "espalier/cells/cell.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/ops/concat.h"
#include "espalier/ops/lstm_memory.h"
#include "espalier/ops/relu.h"
#include "espalier/ops/slice.h"
#include "espalier/ops/sum_axis.h"

namespace espalier::bench {
namespace {

using Data = std::shared_ptr<const DataSet<BinaryTree>>;

class FoldTreeNetwork : public Network {
 public:
  FoldTreeNetwork(Data data, std::int32_t state)
      : data_(std::move(data)),
        leaves_(model_ / "leaves", data_->words, state),
        first_(model_ / "first", 2 * state, state),
        second_(model_ / "second", state, 4 * state),
        state_(state) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(sum(encode(graph, instance), 0));
  }

  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(encode(graph, instance));
  }

 private:
  /// What is let through of the children's states, as of the memories of an LSTM.
  Expr state_of(const Expr& left, const Expr& right) const {
    const Expr gates = second_(relu(first_(concat({left, right}, 0))));
    const auto gate = [&](std::int32_t k) { return slice(gates, k * state_, (k + 1) * state_); };
    return lstm_memory({gate(2), gate(3), gate(0), left, gate(1), right});
  }

  Expr encode(Graph& graph, std::int32_t instance) const {
    thread_local std::vector<Expr> states;  // of one instance; its memory serves the next
    states.clear();
    for (const BinaryTree::Node& node : data_->instances[static_cast<std::size_t>(instance)].nodes)
      states.push_back(node.is_leaf() ? leaves_(graph, node.word)
                                      : cell_(states[static_cast<std::size_t>(node.left)],
                                              states[static_cast<std::size_t>(node.right)]));
    return states.back();
  }

  Data data_;
  nn::Embedding leaves_;
  nn::Linear first_;
  nn::Linear second_;
  std::int32_t state_;
  Cell<Expr(Expr, Expr)> cell_{"fold", [this](Expr left, Expr right) { return state_of(left, right); }};
};

std::string_view name_of(TreeShape shape) {
  switch (shape) {
    case TreeShape::kRandom: return "random";
    case TreeShape::kBalanced: return "balanced";
    case TreeShape::kChain: return "chain";
    case TreeShape::kSame: break;
  }
  return "same";
}

class FoldTreeWorkload : public DataWorkload<BinaryTree> {
 public:
  FoldTreeWorkload(Data data, TreeShape shape, std::int32_t state)
      : DataWorkload("B0", "Fold's benchmark: trees of 128 leaves", fmt::format("{}/{}", name_of(shape), state),
                     std::move(data)),
        state_(state) {}

  std::int32_t nodes(std::int32_t number) const override {
    return static_cast<std::int32_t>(instance(number).nodes.size());
  }
  bool has_limit() const override { return true; }

  std::unique_ptr<Runner> make(Variant variant, Leaves leaves) const override {
    if (variant == Variant::kRecursion) return nullptr;
    auto network = std::make_unique<FoldTreeNetwork>(data(), state_);
    if (variant == Variant::kLimit || variant == Variant::kLimitDedupe)
      return std::make_unique<FoldTreeLimit>(data(), network->model());
    return make_espalier_runner(std::move(network), *this, variant, leaves);
  }

 private:
  std::int32_t state_;
};

}  // namespace

std::unique_ptr<Workload> fold_tree_workload(Data data, TreeShape shape, std::int32_t state) {
  return std::make_unique<FoldTreeWorkload>(std::move(data), shape, state);
}

}  // namespace espalier::bench
