#include "bench/workloads/tree_lstm.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "bench/limit/tree_lstm.h"
#include "bench/suite/data_workload.h"
#include "bench/suite/espalier_runner.h"
#include "bench/suite/network.h"
#include "espalier/models/sentiment_net.h"

namespace espalier::bench {
namespace {

using Data = std::shared_ptr<const DataSet<BinaryTree>>;

/// Without dropout, as the limit has none.
models::SentimentSettings sentiment_settings(const TreeLstmSizes& sizes, std::int32_t labels) {
  return {.cell = "tree_lstm", .classes = labels, .embedding = sizes.embedding, .hidden = sizes.hidden, .dropout = 0};
}

class TreeLstmNetwork : public Network {
 public:
  TreeLstmNetwork(Data data, const TreeLstmSizes& sizes, models::Form form)
      : data_(std::move(data)),
        net_(model_, sentiment_settings(sizes, data_->labels), data_->words, std::nullopt, form) {}

  void record_losses(Graph& graph, std::int32_t instance, std::vector<Expr>& losses) const override {
    losses.push_back(net_.loss(graph, tree(instance)));
  }
  void record_outputs(Graph& graph, std::int32_t instance, std::vector<Expr>& outputs) const override {
    outputs.push_back(net_.scores(graph, tree(instance)));
  }

 private:
  const BinaryTree& tree(std::int32_t instance) const { return data_->instances[static_cast<std::size_t>(instance)]; }

  Data data_;
  models::SentimentNet net_;
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
    const models::Form form = variant == Variant::kRecursion ? models::Form::kRows : models::Form::kNodes;
    auto network = std::make_unique<TreeLstmNetwork>(data(), sizes_, form);
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
