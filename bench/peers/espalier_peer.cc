/// Espalier's side of a comparison with another library (bench/peers/compare.py): runs B1 on command.
///
/// usage: espalier_peer EMBEDDING HIDDEN FOLDER
///
/// Writes the trees (FOLDER/trees.txt) and the initial weights (FOLDER/weights.safetensors), prints "ready", then
/// answers each line "VARIANT MODE FIRST BATCH COUNT" of standard input with "SECONDS LOSS": the time and the summed
/// loss of COUNT minibatches of BATCH trees, from tree FIRST on. Both sides so run the same minibatches in turns.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "bench/data/sets.h"
#include "bench/suite/clock.h"
#include "bench/suite/names.h"
#include "bench/workloads/tree_lstm.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/model.h"
#include "espalier/nn/tree_lstm.h"

namespace espalier::bench {
namespace {

using Data = std::shared_ptr<const DataSet<BinaryTree>>;

/// First the numbers of words and labels and "real" or "generated"; then a line per tree: left, right, word, label of
/// each node.
void write_trees(const DataSet<BinaryTree>& data, const std::filesystem::path& path) {
  std::ofstream file(path);
  file << data.words << ' ' << data.labels << ' ' << (data.real ? "real" : "generated") << '\n';
  for (const BinaryTree& tree : data.instances) {
    for (const BinaryTree::Node& node : tree.nodes)
      file << node.left << ' ' << node.right << ' ' << node.word << ' ' << node.label << ' ';
    file << '\n';
  }
}

/// Initial values depend on the seed and the names only, so these are the weights that B1 starts from.
void write_weights(const DataSet<BinaryTree>& data, const TreeLstmSizes& sizes, const std::filesystem::path& path) {
  Model model;  // the layers' handles are not needed: the model holds the parameters
  nn::Embedding(model / "words", data.words, sizes.embedding);
  nn::BinaryTreeLstm(model / "cell", sizes.embedding, sizes.hidden);
  nn::Linear(model / "classify", sizes.hidden, data.labels);
  model.save(path);
}

class Peer {
 public:
  Peer(const Data& data, const TreeLstmSizes& sizes) : workload_(tree_lstm_workload(data, sizes)) {}

  /// Runs what a line asks for.
  void answer(const std::string& variant, const std::string& mode, std::int32_t first, std::int32_t batch,
              std::int32_t count) {
    Runner& runner = runner_of(variant);
    std::vector<std::int32_t> trees(static_cast<std::size_t>(batch));
    double loss = 0;
    const Clock::time_point start = Clock::now();
    for (std::int32_t i = 0; i < count; ++i) {
      std::iota(trees.begin(), trees.end(), first + i * batch);
      loss += (mode == "train" ? runner.train(trees) : runner.infer(trees)).loss;
    }
    const double seconds = seconds_since(start);
    std::cout << seconds << ' ' << loss << std::endl;
  }

 private:
  Runner& runner_of(const std::string& name) {
    std::unique_ptr<Runner>& runner = runners_[name];
    if (runner == nullptr) {
      const Variant variant = name == "limit"   ? Variant::kLimit
                              : name == "cells" ? Variant::kCells
                                                : Variant::kRecursion;
      runner = workload_->make(variant, Leaves::kOnce);
    }
    return *runner;
  }

  std::unique_ptr<Workload> workload_;
  std::map<std::string, std::unique_ptr<Runner>> runners_;
};

void serve(const TreeLstmSizes& sizes, const std::filesystem::path& folder) {
  const char* const source = std::getenv("ESPALIER_DATA");
  const auto data = std::make_shared<const DataSet<BinaryTree>>(sentiment_trees(source == nullptr ? "" : source));
  write_trees(*data, folder / "trees.txt");
  write_weights(*data, sizes, folder / "weights.safetensors");
  Peer peer(data, sizes);
  std::cout.precision(10);
  std::cout << "ready" << std::endl;
  std::string variant;
  std::string mode;
  for (std::int32_t first = 0, batch = 0, count = 0; std::cin >> variant >> mode >> first >> batch >> count;)
    peer.answer(variant, mode, first, batch, count);
}

}  // namespace
}  // namespace espalier::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: espalier_peer EMBEDDING HIDDEN FOLDER\n";
    return 2;
  }
  try {
    espalier::bench::serve({.embedding = std::atoi(argv[1]), .hidden = std::atoi(argv[2])}, argv[3]);
  } catch (const std::exception& error) {
    std::cerr << "espalier_peer: " << error.what() << '\n';
    return 1;
  }
}
