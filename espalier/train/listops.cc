#include "espalier/train/listops.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <numeric>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/base/threads.h"
#include "espalier/nn/safetensors.h"
#include "espalier/ops/all.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/schedule.h"
#include "espalier/train/ahead.h"
#include "espalier/train/lanes.h"

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

ListOpsScore evaluate(const ListOpsNet& net, std::span<const data::Tree> trees, const ListOpsWatch& watch) {
  // Groups do not depend on the number of threads, nor do their numbers.
  constexpr std::int64_t kGroup = 64;
  constexpr std::int64_t kGroupsAtOnce = 32;
  ListOpsScore total;
  const auto size = static_cast<std::int64_t>(trees.size());
  for (std::int64_t begin = 0; begin < size; begin += kGroup * kGroupsAtOnce) {
    const std::int64_t end = std::min(size, begin + kGroup * kGroupsAtOnce);
    std::vector<ListOpsScore> scores(static_cast<std::size_t>((end - begin + kGroup - 1) / kGroup));
    parallel_for(static_cast<std::int64_t>(scores.size()), 1, [&](std::int64_t from, std::int64_t to) {
      Graph graph({.training = false});
      for (std::int64_t group = from; group < to; ++group) {
        const std::int64_t first = begin + group * kGroup;
        const auto part = trees.subspan(static_cast<std::size_t>(first),
                                        static_cast<std::size_t>(std::min(end, first + kGroup) - first));
        graph.clear();
        std::vector<Expr> outputs;
        for (const data::Tree& tree : part) {
          graph.begin_instance();
          outputs.push_back(net(graph, tree));
          outputs.push_back(cross_entropy(outputs.back(), tree.label()));
        }
        graph.finish(outputs);
        for (std::size_t i = 0; i < part.size(); ++i)
          count(scores[static_cast<std::size_t>(group)], part[i], outputs[2 * i].value(), outputs[2 * i + 1].scalar());
      }
    });
    for (const ListOpsScore& score : scores) add(total, score);  // in the order of the trees
    if (watch) watch(end, total);
  }
  return total;
}

namespace {

/// Numbers of trees that are recorded together.
using Part = std::span<const std::size_t>;

/// What is recorded of a part.
struct Recorded {
  std::vector<Expr> digits;  // of each tree
  std::vector<Expr> losses;  // likewise

  void differentiate(Gradients& into) const { sum(losses).backward({.into = &into, .wanted = {}}); }
  /// Of trees that were differentiated.
  ListOpsScore score(std::span<const data::Tree> trees, Part part) const {
    ListOpsScore total;
    for (std::size_t i = 0; i < part.size(); ++i) count(total, trees[part[i]], digits[i].value(), losses[i].scalar());
    return total;
  }
};

Recorded record(Graph& graph, const ListOpsNet& net, std::span<const data::Tree> trees, Part part) {
  Recorded recorded;
  for (std::size_t i : part) {
    graph.begin_instance(i);
    recorded.digits.push_back(net(graph, trees[i]));
    graph.keep(recorded.digits.back());
    recorded.losses.push_back(cross_entropy(recorded.digits.back(), trees[i].label()));
    graph.keep(recorded.losses.back());
  }
  return recorded;
}

/// Computes the gradients of minibatches, each divided among the threads.
class Workers {
 public:
  explicit Workers(Strategy strategy) : lanes_({.strategy = strategy}) {}

  /// The score of the trees of a minibatch; gradients() has the sum over them afterwards.
  ListOpsScore run(const ListOpsNet& net, std::span<const data::Tree> trees, Part batch) {
    std::vector<ListOpsScore> scores(batch.size());  // of a part, where it begins
    std::vector<std::int64_t> sizes;
    for (std::size_t i : batch) sizes.push_back(trees[i].size());
    lanes_.run(sizes, [&](Lane& lane, std::int64_t begin, std::int64_t end) {
      const Part part = batch.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
      const Recorded recorded = record(lane.graph, net, trees, part);
      recorded.differentiate(lane.gradients);
      scores[static_cast<std::size_t>(begin)] = recorded.score(trees, part);
    });
    ListOpsScore total;
    for (const ListOpsScore& score : scores) add(total, score);
    statistics_.add(lanes_.statistics());
    return total;
  }

  Gradients& gradients() { return lanes_.gradients(); }
  const Statistics& statistics() const { return statistics_; }

 private:
  Lanes lanes_;
  Statistics statistics_;
};

}  // namespace

struct ListOpsTrainer::State {
  State(ListOpsNet& of, std::span<const data::Tree> set, const ListOpsTraining& training)
      : net(of),
        trees(set),
        options(training),
        adam(of.model(), {.learning_rate = training.learning_rate, .clip_norm = training.clip_norm}),
        random(training.seed, 1),
        order(set.size()),
        workers(training.strategy),
        ahead({.strategy = training.strategy}) {
    if (set.empty()) throw UsageError("train: there are no training instances");
    if (training.warmup < 0)
      throw UsageError(fmt::format("train: a warm-up of {} steps is not possible", training.warmup));
    if (training.batch < 1)
      throw UsageError(fmt::format("train: a minibatch of {} instances is not possible", training.batch));
    const std::int64_t steps = batches() * training.epochs;
    // A short run gives at most a tenth of itself to warming up.
    const std::int64_t warmup = std::min<std::int64_t>(training.warmup, steps / 10);
    const optim::Schedule falling = optim::cosine_decay(steps - warmup);
    adam.set_schedule(warmup > 0 ? optim::linear_warmup(warmup, falling) : falling);
    std::iota(order.begin(), order.end(), 0);
  }

  /// Called with the score of each minibatch.
  using Done = std::function<void(const ListOpsScore& score)>;

  std::int64_t batches() const { return (static_cast<std::int64_t>(order.size()) + options.batch - 1) / options.batch; }
  Part batch(std::int64_t number) const {
    const auto begin = static_cast<std::size_t>(number * options.batch);
    return Part(order).subspan(begin, std::min(static_cast<std::size_t>(options.batch), order.size() - begin));
  }
  bool records_ahead() const {
    return options.ahead == RecordAhead::kAlways ||
           (options.ahead == RecordAhead::kWherePays && options.batch <= kListOpsAhead && has_other_threads());
  }

  /// One minibatch after the other, each divided among the threads.
  void run_in_lanes(const Done& done) {
    for (std::int64_t i = 0; i < batches(); ++i) {
      const ListOpsScore score = workers.run(net, trees, batch(i));
      update(workers.gradients(), batch(i).size());
      done(score);
    }
  }
  /// The next one is recorded while one runs.
  void run_ahead(const Done& done) {
    ahead.run(
        batches(), [&](Graph& graph, std::int64_t i) { return record(graph, net, trees, batch(i)); },
        [&](const Recorded& recorded, std::int64_t i) {
          gradients.clear();
          recorded.differentiate(gradients);
          const ListOpsScore score = recorded.score(trees, batch(i));
          update(gradients, batch(i).size());
          done(score);
        });
  }
  void update(Gradients& by, std::size_t size) {
    const auto start = std::chrono::steady_clock::now();
    by.scale(1.0 / static_cast<double>(size));
    adam.step(by);
    update_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  Statistics statistics() const {
    Statistics all = workers.statistics();
    all.add(ahead.statistics());
    all.seconds.update += update_seconds;
    return all;
  }

  ListOpsNet& net;
  std::span<const data::Tree> trees;
  ListOpsTraining options;
  optim::Adam adam;
  Random random;
  std::vector<std::size_t> order;
  Workers workers;
  Ahead ahead;
  Gradients gradients;  // of what is recorded ahead
  double update_seconds = 0;
};

ListOpsTrainer::ListOpsTrainer(ListOpsNet& net, std::span<const data::Tree> trees, const ListOpsTraining& options)
    : state_(std::make_unique<State>(net, trees, options)) {}

ListOpsTrainer::~ListOpsTrainer() = default;

Statistics ListOpsTrainer::statistics() const { return state_->statistics(); }

ListOpsScore ListOpsTrainer::run_epoch(const ListOpsWatch& watch) {
  State& state = *state_;
  state.random.shuffle(std::span<std::size_t>(state.order));
  ListOpsScore total;
  const auto done = [&](const ListOpsScore& score) {
    add(total, score);
    if (watch) watch(total.instances, total);
  };
  if (state.records_ahead())
    state.run_ahead(done);
  else
    state.run_in_lanes(done);
  return total;
}

std::vector<StrategySpeed> compare_strategies(const ListOpsNet& net, std::span<const data::Tree> trees,
                                              std::int32_t batch, double seconds) {
  using Clock = std::chrono::steady_clock;
  if (trees.empty()) throw UsageError("compare_strategies: there are no instances");
  struct Measured {
    explicit Measured(Strategy by) : strategy(by), workers(by) {}
    Strategy strategy;
    Workers workers;
    std::vector<double> rates;
  };
  std::vector<std::unique_ptr<Measured>> all;
  for (const Strategy strategy : {Strategy::kNone, Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier})
    all.push_back(std::make_unique<Measured>(strategy));

  std::vector<std::size_t> minibatch(static_cast<std::size_t>(batch));
  const auto start = Clock::now();
  const auto since = [](Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); };
  // The first round warms up; a machine that slows down for a while slows all strategies.
  for (std::size_t round = 0; round < 4 || since(start) < seconds; ++round) {
    for (std::size_t i = 0; i < minibatch.size(); ++i) minibatch[i] = (round * minibatch.size() + i) % trees.size();
    for (auto& measured : all) {
      const auto before = Clock::now();
      measured->workers.run(net, trees, minibatch);
      if (round > 0) measured->rates.push_back(static_cast<double>(batch) / since(before));
    }
  }
  std::vector<StrategySpeed> result;
  for (auto& measured : all) {
    std::vector<double>& rates = measured->rates;
    std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2), rates.end());
    const Statistics& statistics = measured->workers.statistics();
    const auto runs = static_cast<double>(statistics.runs);
    result.push_back({.strategy = measured->strategy,
                      .instances_per_second = rates[rates.size() / 2],
                      .steps = static_cast<double>(statistics.steps) / runs,
                      .bound = static_cast<double>(statistics.bound) / runs});
  }
  return result;
}

}  // namespace espalier::train
