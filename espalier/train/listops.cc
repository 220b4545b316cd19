#include "espalier/train/listops.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/base/threads.h"
#include "espalier/nn/safetensors.h"
#include "espalier/ops/all.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/schedule.h"

namespace espalier::train {
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

std::int32_t best_of(const Tensor& scores) {
  const std::span<const float> values = scores.as<float>();
  return static_cast<std::int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

void add(ListOpsScore& to, const ListOpsScore& from) {
  to.instances += from.instances;
  to.correct += from.correct;
  to.deep_instances += from.deep_instances;
  to.deep_correct += from.deep_correct;
  to.total_loss += from.total_loss;
}

void count(ListOpsScore& score, const data::Tree& tree, const Tensor& scores, double loss) {
  const bool correct = best_of(scores) == tree.label();
  const bool deep = data::listops_depth(tree) >= kListOpsDeep;
  ++score.instances;
  score.correct += correct ? 1 : 0;
  score.deep_instances += deep ? 1 : 0;
  score.deep_correct += deep && correct ? 1 : 0;
  score.total_loss += loss;
}

}  // namespace

ListOpsNet::ListOpsNet(const ListOpsSizes& sizes, std::uint64_t seed)
    : sizes_(sizes),
      model_(std::make_unique<Model>(seed)),
      words_(*model_ / "words", static_cast<std::int32_t>(data::kListOpsWords.size()), sizes.embedding),
      cell_(*model_ / "cell", sizes.embedding, sizes.hidden),
      classify_(*model_ / "classify", sizes.hidden, data::kListOpsLabels) {}

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

ListOpsScore evaluate(const ListOpsNet& net, std::span<const data::Tree> trees, const ListOpsWatch& watch) {
  constexpr std::int64_t kPart = 512;
  ListOpsScore total;
  const auto size = static_cast<std::int64_t>(trees.size());
  for (std::int64_t begin = 0; begin < size; begin += kPart) {
    const std::int64_t end = std::min(size, begin + kPart);
    std::vector<ListOpsScore> scores(static_cast<std::size_t>(end - begin));
    parallel_for(end - begin, 1, [&](std::int64_t from, std::int64_t to) {
      Graph graph({.training = false});
      for (std::int64_t i = from; i < to; ++i) {
        const data::Tree& tree = trees[static_cast<std::size_t>(begin + i)];
        graph.clear();
        graph.begin_instance();
        const Expr digits = net(graph, tree);
        count(scores[static_cast<std::size_t>(i)], tree, digits.value(), cross_entropy(digits, tree.label()).scalar());
      }
    });
    for (const ListOpsScore& score : scores) add(total, score);  // in the order of the trees
    if (watch) watch(end, total);
  }
  return total;
}

struct ListOpsTrainer::State {
  /// What one thread works with.
  struct Worker {
    Graph graph;
    Gradients gradients;
    ListOpsScore score;
  };

  State(ListOpsNet& of, std::span<const data::Tree> set, const ListOpsTraining& training)
      : net(of),
        trees(set),
        options(training),
        adam(of.model(), {.learning_rate = training.learning_rate, .clip_norm = training.clip_norm}),
        random(training.seed, 1),
        order(set.size()) {
    if (set.empty()) throw UsageError("train: there are no training instances");
    if (training.batch < 1)
      throw UsageError(fmt::format("train: a minibatch of {} instances is not possible", training.batch));
    const std::int64_t batches = (static_cast<std::int64_t>(set.size()) + training.batch - 1) / training.batch;
    adam.set_schedule(optim::cosine_decay(batches * training.epochs));
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < thread_count(); ++i) workers.push_back(std::make_unique<Worker>());
  }

  /// Records, runs and differentiates one part of a minibatch.
  void run_part(Worker& worker, std::span<const std::size_t> part) const {
    worker.gradients.clear();
    worker.score = {};
    worker.graph.clear();
    std::vector<Expr> digits;
    std::vector<Expr> losses;
    for (std::size_t i : part) {
      worker.graph.begin_instance(i);
      digits.push_back(net(worker.graph, trees[i]));
      losses.push_back(cross_entropy(digits.back(), trees[i].label()));
    }
    sum(losses).backward({.into = &worker.gradients, .wanted = {}});
    for (std::size_t i = 0; i < part.size(); ++i)
      count(worker.score, trees[part[i]], digits[i].value(), losses[i].scalar());
  }

  ListOpsScore run_batch(std::span<const std::size_t> batch) {
    const auto parts = static_cast<std::int64_t>(std::min(workers.size(), batch.size()));
    const auto size = static_cast<std::int64_t>(batch.size());
    parallel_for(parts, 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t p = from; p < to; ++p) {
        const auto begin = static_cast<std::size_t>(size * p / parts);
        const auto end = static_cast<std::size_t>(size * (p + 1) / parts);
        run_part(*workers[static_cast<std::size_t>(p)], batch.subspan(begin, end - begin));
      }
    });
    Gradients& gradients = workers[0]->gradients;
    ListOpsScore score = workers[0]->score;
    for (std::size_t p = 1; p < static_cast<std::size_t>(parts); ++p) {
      gradients.add(workers[p]->gradients);
      add(score, workers[p]->score);
    }
    gradients.scale(1.0 / static_cast<double>(batch.size()));
    adam.step(gradients);
    return score;
  }

  ListOpsNet& net;
  std::span<const data::Tree> trees;
  ListOpsTraining options;
  optim::Adam adam;
  Random random;
  std::vector<std::size_t> order;
  std::vector<std::unique_ptr<Worker>> workers;
};

ListOpsTrainer::ListOpsTrainer(ListOpsNet& net, std::span<const data::Tree> trees, const ListOpsTraining& options)
    : state_(std::make_unique<State>(net, trees, options)) {}

ListOpsTrainer::~ListOpsTrainer() = default;

ListOpsScore ListOpsTrainer::run_epoch(const ListOpsWatch& watch) {
  State& state = *state_;
  state.random.shuffle(std::span<std::size_t>(state.order));
  ListOpsScore total;
  const auto batch = static_cast<std::size_t>(state.options.batch);
  for (std::size_t begin = 0; begin < state.order.size(); begin += batch) {
    const std::size_t size = std::min(batch, state.order.size() - begin);
    add(total, state.run_batch(std::span<const std::size_t>(state.order).subspan(begin, size)));
    if (watch) watch(static_cast<std::int64_t>(begin + size), total);
  }
  return total;
}

}  // namespace espalier::train
