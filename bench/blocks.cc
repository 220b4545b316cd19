/// What walking blocks costs: a binary Tree-LSTM with a loss at every node (the benchmark's B1), as blocks and written
/// by hand, over the same trees. Budget (docs/design.md): recording at most 1.3 times as long, whole training at least
/// 0.95 of the speed. Then what a second thread gains in recording, each of several graphs by one thread, as stream()
/// and add_gradients() do it. Rounds of all alternate; medians are printed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "espalier/blocks.h"

namespace espalier {
namespace {

constexpr std::int32_t kWords = 2000;
constexpr std::int32_t kEmbedding = 300;
constexpr std::int32_t kHidden = 150;
constexpr std::int32_t kLabels = 5;
constexpr int kTrees = 64;
constexpr int kRounds = 15;

struct Tree {
  std::int32_t word = 0;
  std::int32_t label = 0;
  std::unique_ptr<Tree> left, right;

  bool is_leaf() const { return left == nullptr; }
};

std::unique_ptr<Tree> random_tree(Random& random, int leaves) {
  auto tree = std::make_unique<Tree>();
  tree->word = static_cast<std::int32_t>(random.uniform(0, kWords));
  tree->label = static_cast<std::int32_t>(random.uniform(0, kLabels));
  if (leaves > 1) {
    const int left = 1 + static_cast<int>(random.uniform(0, leaves - 1));
    tree->left = random_tree(random, left);
    tree->right = random_tree(random, leaves - left);
  }
  return tree;
}

struct Net {
  Model model;
  nn::Embedding words{model / "words", kWords, kEmbedding};
  nn::BinaryTreeLstm cell{model / "cell", kEmbedding, kHidden};
  nn::Linear classify{model / "classify", kHidden, kLabels};

  nn::TreeState encode(Graph& graph, const Tree& tree, std::vector<Expr>& losses) const {
    nn::TreeState state;
    if (tree.is_leaf()) {
      state = cell.leaf(words(graph, tree.word));
    } else {
      const nn::TreeState left = encode(graph, *tree.left, losses);
      state = cell(left, encode(graph, *tree.right, losses));
    }
    losses.push_back(cross_entropy(classify(state.h), tree.label));
    return state;
  }
  Expr loss(Graph& graph, const std::vector<std::unique_ptr<Tree>>& trees) const {
    std::vector<Expr> losses;
    for (const auto& tree : trees) {
      graph.begin_instance();
      encode(graph, *tree, losses);
    }
    return sum(losses) * (1.0 / static_cast<double>(trees.size()));
  }
};

/// The same model. A node is (its state, its label) until the loss is taken.
blocks::Block as_blocks(const Net& net) {
  namespace b = blocks;
  b::Forward tree = b::forward("tree");
  const b::Block leaf = b::get(&Tree::word) >> net.words >> [cell = net.cell](Operand x) { return cell.leaf(x); };
  const b::Block inner = b::all_of({b::get(&Tree::left) >> tree(), b::get(&Tree::right) >> tree()}) >> net.cell;
  const b::Block score = b::function([classify = net.classify](const nn::TreeState& state, std::int32_t label) {
    return cross_entropy(classify(state.h), label);
  });
  b::Composition node("node");
  const b::Wire state = node(b::one_of(b::key(&Tree::is_leaf), {{true, leaf}, {false, inner}}), node.input());
  node(score >> b::loss("labels"), {state, node(b::get(&Tree::label), node.input())});
  node.output().reads(state);
  tree.resolve_to(node);
  return tree();
}

double seconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

/// Records the trees in graphs of kTrees / kGraphs, each by one thread, kTimes times; seconds for each time.
class RecordingInThreads {
 public:
  RecordingInThreads(const blocks::Program& program, const std::vector<std::unique_ptr<Tree>>& trees)
      : program_(program), graphs_(kGraphs), parts_(kGraphs) {
    for (std::size_t i = 0; i < trees.size(); ++i) parts_[i % kGraphs].push_back(trees[i].get());
    record(1);  // their memory
  }

  /// Adds the seconds that passed to `passed`, and those that all processors worked to `worked`: where others use the
  /// machine too, two threads may take as long as one, and only the work shows what they cost each other.
  void measure(int threads, std::vector<double>& passed, std::vector<double>& worked) {
    set_thread_count(threads);
    const std::clock_t before = std::clock();
    passed.push_back(seconds([&] { record(kTimes); }) / kTimes);
    worked.push_back(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / kTimes);
    set_thread_count(1);
  }

 private:
  static constexpr std::size_t kGraphs = 8;
  static constexpr int kTimes = 10;

  void record(int times) {
    parallel_for(kGraphs, 1, [&](std::int64_t begin, std::int64_t end) {
      for (int time = 0; time < times; ++time)
        for (std::int64_t i = begin; i < end; ++i) {
          Graph& graph = graphs_[static_cast<std::size_t>(i)];
          graph.clear();
          program_.loss(graph, parts_[static_cast<std::size_t>(i)]);
        }
    });
  }

  const blocks::Program& program_;
  std::vector<Graph> graphs_;
  std::vector<std::vector<const Tree*>> parts_;
};

int run() {
  set_thread_count(1);
  Random random(1);
  std::vector<std::unique_ptr<Tree>> trees;
  for (int i = 0; i < kTrees; ++i) trees.push_back(random_tree(random, 10 + static_cast<int>(random.uniform(0, 20))));
  Net net;
  const blocks::Program program(as_blocks(net));
  optim::Sgd optimizer(net.model, {.learning_rate = 1e-4});

  const auto by_hand = [&](Graph& graph) { return net.loss(graph, trees); };
  const auto by_blocks = [&](Graph& graph) { return program.loss(graph, trees); };
  Graph first;
  Graph second;
  const double a = by_hand(first).scalar();
  const double b = by_blocks(second).scalar();
  if (a != b) {
    std::printf("the losses differ: %.9g by hand, %.9g by blocks\n", a, b);
    return EXIT_FAILURE;
  }
  RecordingInThreads in_threads(program, trees);
  std::vector<double> record_hand, record_blocks, train_hand, train_blocks;
  std::vector<double> passed_one, passed_two, worked_one, worked_two;
  const auto record = [&](const auto& loss) {
    Graph graph;
    constexpr int kTimes = 10;
    loss(graph);  // its memory
    return seconds([&] {
             for (int i = 0; i < kTimes; ++i) {
               graph.clear();
               loss(graph);
             }
           }) /
           kTimes;
  };
  const auto train = [&](const auto& loss) {
    return seconds([&] {
      Graph graph;
      loss(graph).backward();
      optimizer.step();
    });
  };
  for (int round = 0; round < kRounds; ++round) {
    record_hand.push_back(record(by_hand));
    record_blocks.push_back(record(by_blocks));
    train_hand.push_back(train(by_hand));
    train_blocks.push_back(train(by_blocks));
    in_threads.measure(1, passed_one, worked_one);
    in_threads.measure(2, passed_two, worked_two);
  }
  const auto show = [](const char* what, double hand, double blocks_time, double ratio) {
    std::printf("%-10s by hand %8.1f us a tree, by blocks %8.1f us a tree, ratio %.2f\n", what, 1e6 * hand / kTrees,
                1e6 * blocks_time / kTrees, ratio);
  };
  const double recorded = median(record_hand);
  const double recorded_blocks = median(record_blocks);
  const double trained = median(train_hand);
  const double trained_blocks = median(train_blocks);
  show("recording", recorded, recorded_blocks, recorded_blocks / recorded);
  show("training", trained, trained_blocks, trained / trained_blocks);
  std::printf("recording  1 thread %7.1f us a tree, 2 threads %8.1f us a tree, speed-up %.2f, work %.2f times\n",
              1e6 * median(passed_one) / kTrees, 1e6 * median(passed_two) / kTrees,
              median(passed_one) / median(passed_two), median(worked_two) / median(worked_one));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace espalier

int main() { return espalier::run(); }
