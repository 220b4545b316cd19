/// Espalier's side of bench/onnx_speed.py: a Tree-LSTM as an ONNX file, inputs for it, and the same model by the
/// engine.
///
/// usage: onnx_speed EMBEDDING HIDDEN TREES FOLDER
///
/// Writes FOLDER/model.onnx, FOLDER/batch.json (inputs for all trees together, and the scores) and FOLDER/alone.json
/// (inputs tree by tree), prints "ready", then answers each line of standard input with seconds: "batch" computes all
/// trees by the engine, "alone" one after the other, "weave" makes the inputs of all trees.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "espalier/base/files.h"
#include "espalier/base/random.h"
#include "espalier/base/threads.h"
#include "espalier/data/value.h"
#include "espalier/models/sentiment_net.h"
#include "espalier/onnx/onnx.h"

namespace espalier {
namespace {

constexpr std::int32_t kWords = 18'000;

/// As in sentiment treebanks: 19 words on average, frequent ones often, brackets anywhere.
models::BinaryTree random_tree(Random& random) {
  models::BinaryTree tree;
  std::vector<std::int32_t> open;
  const std::int64_t words = 4 + random.below(31);
  for (std::int64_t w = 0; w < words; ++w) {
    open.push_back(static_cast<std::int32_t>(tree.nodes.size()));
    const double rank = std::exp(random.uniform(0, 1) * std::log(kWords));
    tree.nodes.push_back({.word = std::min(static_cast<std::int32_t>(rank), kWords - 1)});
  }
  while (open.size() > 1) {
    const auto at = static_cast<std::size_t>(random.below(std::ssize(open) - 1));
    tree.nodes.push_back({.left = open[at], .right = open[at + 1]});
    open[at] = static_cast<std::int32_t>(tree.nodes.size()) - 1;
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  return tree;
}

template <class T>
Value list_of(const std::vector<T>& numbers) {
  std::vector<Value> items;
  for (const T number : numbers) items.emplace_back(number);
  return Value::list(std::move(items));
}
Value value_of(const std::vector<onnx::Feed>& feeds) {
  std::vector<Value::Entry> entries;
  for (const onnx::Feed& feed : feeds)
    entries.push_back(
        {feed.name, Value::map({{"shape", list_of(feed.shape)},
                                {"float", feed.is_float},
                                {"values", feed.is_float ? list_of(feed.numbers) : list_of(feed.integers)}})});
  return Value::map(std::move(entries));
}

class OnnxSpeed {
 public:
  OnnxSpeed(std::int32_t embedding, std::int32_t hidden, int trees)
      : net_(model_, {.cell = "tree_lstm", .embedding = embedding, .hidden = hidden}, kWords) {
    Random random(3);
    for (int i = 0; i < trees; ++i) trees_.push_back(random_tree(random));
  }

  void write(const std::filesystem::path& folder) const {
    Graph graph({.training = false});
    const std::vector<onnx::Instance> instances = record(graph, trees_);
    onnx::write(folder / "model.onnx", {"scores"}, instances);
    const onnx::Weaver weaver(folder / "model.onnx");
    std::vector<float> scores;
    for (const onnx::Instance& instance : instances)
      for (std::int64_t k = 0; k < instance[0].shape().elements(); ++k)
        scores.push_back(static_cast<float>(instance[0].value().at(k)));
    write_file_atomically(
        folder / "batch.json",
        Value::map({{"feeds", value_of(weaver.weave(instances)[0].feeds)}, {"scores", list_of(scores)}}).to_text());
    std::vector<Value> alone;
    for (const onnx::Instance& instance : instances)
      alone.push_back(value_of(weaver.weave(std::span(&instance, 1))[0].feeds));
    write_file_atomically(folder / "alone.json", Value::list(std::move(alone)).to_text());
  }

  double seconds(const std::string& what, const std::filesystem::path& folder) const {
    const onnx::Weaver weaver(folder / "model.onnx");
    const auto start = std::chrono::steady_clock::now();
    if (what == "weave") {
      Graph graph({.training = false});
      static_cast<void>(weaver.weave(record(graph, trees_)));
    } else if (what == "batch") {
      compute(trees_);
    } else {
      for (const models::BinaryTree& tree : trees_) compute(std::vector<models::BinaryTree>{tree});
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  std::vector<onnx::Instance> record(Graph& graph, const std::vector<models::BinaryTree>& trees) const {
    std::vector<onnx::Instance> instances;
    for (const models::BinaryTree& tree : trees) {
      graph.begin_instance();
      instances.push_back({net_.scores(graph, tree)});
    }
    return instances;
  }
  void compute(const std::vector<models::BinaryTree>& trees) const {
    Graph graph({.training = false});
    std::vector<Expr> outputs;
    for (const onnx::Instance& instance : record(graph, trees)) outputs.push_back(instance[0]);
    graph.finish(outputs);
  }

  Model model_{1};
  models::SentimentNet net_;
  std::vector<models::BinaryTree> trees_;
};

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: onnx_speed EMBEDDING HIDDEN TREES FOLDER\n";
    return 2;
  }
  try {
    espalier::set_thread_count(1);
    const espalier::OnnxSpeed speed(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]));
    speed.write(argv[4]);
    std::cout << "ready" << std::endl;
    for (std::string what; std::cin >> what;) std::cout << speed.seconds(what, argv[4]) << std::endl;
  } catch (const std::exception& error) {
    std::cerr << "onnx_speed: " << error.what() << '\n';
    return 1;
  }
}
