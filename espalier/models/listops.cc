#include "espalier/models/listops.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/nn/safetensors.h"
#include "espalier/ops/all.h"
#include "espalier/train/gradient_maker.h"
#include "espalier/train/minibatches.h"

namespace espalier::models {
namespace {

constexpr std::string_view kTask = "listops";

std::int32_t size_in(const Metadata& facts, const std::string& key, const std::filesystem::path& path) {
  std::int32_t value = 0;
  const auto found = facts.find(key);
  if (found != facts.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value > 0 && value <= 1 << 16) return value;
  }
  throw DataError(fmt::format("{}: its metadata lack a whole number 1 to 65536 named \"{}\"", path.string(), key));
}

void require_shape(const SafetensorsReader& reader, std::string_view name, const Shape& shape,
                   const std::filesystem::path& path) {
  if (reader.shape(name) != shape)
    throw DataError(fmt::format("{}: by its metadata \"{}\" is {}, and the tensor there is {}", path.string(), name,
                                shape.to_string(), reader.shape(name).to_string()));
}

}  // namespace

ListOpsNet::ListOpsNet(const ListOpsSizes& sizes, std::uint64_t seed)
    : sizes_(sizes),
      model_(std::make_unique<Model>(seed)),
      // Rows of unit variance: with smaller ones the digits start out more alike, and learning starts later.
      words_(*model_ / "words", static_cast<std::int32_t>(data::kListOpsWords.size()), sizes.embedding,
             {.init = init::normal(0, 1)}),
      cell_(*model_ / "cell", sizes.embedding, sizes.hidden),
      classify_(*model_ / "classify", sizes.hidden, data::kListOpsLabels),
      read_(*model_ / "read", data::kListOpsLabels, sizes.embedding, {.bias = false, .init = init::normal(0, 1)}) {}

Expr ListOpsNet::operator()(Graph& graph, const data::Tree& tree) const {
  std::vector<nn::TreeState> states;
  states.reserve(static_cast<std::size_t>(tree.size()));
  for (std::int32_t node = 0; node < tree.size(); ++node) {  // children come before their parents
    if (tree.is_leaf(node)) {
      states.push_back(cell_.leaf(words_(graph, tree.token(node))));
    } else {
      const std::span<const std::int32_t> children = tree.children(node);
      states.push_back(
          cell_(states[static_cast<std::size_t>(children[0])], states[static_cast<std::size_t>(children[1])]));
      const bool is_value = tree.token(children[1]) == data::kListOpsEnd;
      if (is_value && node + 1 < tree.size()) states.back() = cell_.leaf(read_(softmax(classify_(states.back().h))));
    }
  }
  return classify_(states.back().h);
}

void ListOpsNet::save(const std::filesystem::path& path, Metadata facts) const {
  facts["task"] = kTask;
  facts["embedding"] = std::to_string(sizes_.embedding);
  facts["hidden"] = std::to_string(sizes_.hidden);
  model_->save(path, facts);
}

ListOpsNet ListOpsNet::load(const std::filesystem::path& path, Metadata* facts) {
  const SafetensorsReader reader(path);
  const Metadata& found = reader.metadata();
  if (const auto task = found.find("task"); task == found.end() || task->second != kTask)
    throw DataError(fmt::format("{}: these are not weights of a ListOps model", path.string()));
  const ListOpsSizes sizes{.embedding = size_in(found, "embedding", path), .hidden = size_in(found, "hidden", path)};
  // Before memory is taken for them.
  require_shape(reader, "words.table", {static_cast<std::int64_t>(data::kListOpsWords.size()), sizes.embedding}, path);
  require_shape(reader, "classify.W", {sizes.hidden, data::kListOpsLabels}, path);
  ListOpsNet net(sizes);
  net.model().load(path);
  if (facts != nullptr) *facts = found;
  return net;
}

std::span<const data::Tree> ListOpsTask::trees(train::Split split) const {
  switch (split) {
    case train::Split::kTrain: return train_;
    case train::Split::kHeldOut: return held_out_;
    case train::Split::kTest: return {};
  }
  return {};
}

Expr ListOpsTask::record(Graph& graph, train::Split split, std::int64_t i, std::vector<Expr>& outputs) const {
  outputs.push_back(net_(graph, tree(split, i)));
  return cross_entropy(outputs.back(), tree(split, i).label());
}

void ListOpsTask::read(train::Split split, std::int64_t i, std::span<const Tensor> outputs,
                       train::Prediction& prediction) const {
  train::read_class(outputs[0], tree(split, i).label(), prediction);
}

std::vector<std::string> ListOpsTask::classes() const {
  return {data::kListOpsWords.begin(), data::kListOpsWords.begin() + data::kListOpsLabels};
}

std::string ListOpsTask::text(train::Split split, std::int64_t i) const { return data::listops_text(tree(split, i)); }

ListOpsScore ListOpsTask::score(train::Split split, const train::Evaluation& evaluation) const {
  ListOpsScore score;
  for (const train::Prediction& prediction : evaluation.predictions) {
    const bool correct = prediction.predicted == prediction.expected;
    const bool deep = data::listops_depth(tree(split, prediction.instance)) >= kListOpsDeep;
    ++score.instances;
    score.correct += correct ? 1 : 0;
    score.deep_instances += deep ? 1 : 0;
    score.deep_correct += deep && correct ? 1 : 0;
    score.total_loss += prediction.loss;
  }
  return score;
}

ListOpsScore evaluate(const ListOpsNet& net, std::span<const data::Tree> trees, const train::EvaluationWatch& watch) {
  const ListOpsTask task(net, {}, trees);
  return task.score(train::Split::kHeldOut, train::evaluate(task, train::Split::kHeldOut, watch));
}

train::TrainerOptions trainer_options(const ListOpsTraining& training, const ListOpsSizes& sizes) {
  return {.epochs = training.epochs,
          .seed = training.seed,
          .batch = training.batch,
          .optimizer = fmt::format("adam(learning_rate={}, clip_norm={})", training.learning_rate, training.clip_norm),
          .schedule = "cosine",
          .warmup = training.warmup,
          .evaluate_every = 0,
          .measure_training = true,
          .strategy = training.strategy,
          .ahead = training.ahead,
          .facts = {{"task", std::string(kTask)},
                    {"embedding", fmt::format("{}", sizes.embedding)},
                    {"hidden", fmt::format("{}", sizes.hidden)}}};
}

std::vector<StrategySpeed> compare_strategies(const ListOpsNet& net, std::span<const data::Tree> trees,
                                              std::int32_t batch, double seconds) {
  using Clock = std::chrono::steady_clock;
  if (trees.empty()) throw UsageError("compare_strategies: there are no instances");
  const ListOpsTask task(net, trees, {});
  std::vector<std::int64_t> nodes;
  for (const data::Tree& tree : trees) nodes.push_back(tree.size());
  struct Measured {
    Measured(const train::Task& task, std::span<const std::int64_t> nodes, Strategy by)
        : strategy(by), maker(task, nodes, {.strategy = by}) {}
    Strategy strategy;
    train::GradientMaker maker;
    std::vector<double> rates;
  };
  std::vector<std::unique_ptr<Measured>> all;
  for (const Strategy strategy : {Strategy::kNone, Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier})
    all.push_back(std::make_unique<Measured>(task, nodes, strategy));

  // As many whole minibatches as there are trees for, over and over.
  train::EpochOrder order(nodes.size(), 0, false);
  const train::Minibatches minibatches(order.at(0), nodes, {.instances = batch});
  const auto start = Clock::now();
  const auto since = [](Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); };
  // The first round warms up; a machine that slows down for a while slows all strategies.
  for (std::size_t round = 0; round < 4 || since(start) < seconds; ++round) {
    const auto at = static_cast<std::int64_t>(round) % minibatches.size();
    for (auto& measured : all) {
      const auto before = Clock::now();
      measured->maker.run(minibatches, at, at + 1, 0, [](std::int64_t, const train::TrainingScore&, Gradients&) {});
      if (round > 0) measured->rates.push_back(static_cast<double>(minibatches[at].size()) / since(before));
    }
  }
  std::vector<StrategySpeed> result;
  for (auto& measured : all) {
    std::vector<double>& rates = measured->rates;
    std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2), rates.end());
    const Statistics& statistics = measured->maker.statistics();
    const auto runs = static_cast<double>(statistics.runs);
    result.push_back({.strategy = measured->strategy,
                      .instances_per_second = rates[rates.size() / 2],
                      .steps = static_cast<double>(statistics.steps) / runs,
                      .bound = static_cast<double>(statistics.bound) / runs});
  }
  return result;
}

}  // namespace espalier::models
