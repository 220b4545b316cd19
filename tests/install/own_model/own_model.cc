/// Trains a model of one's own, stops, goes on and predicts: own_model FOLDER TRAIN HELD_OUT < FURTHER_TREES
#include <espalier/espalier.h>

#include <algorithm>
#include <fstream>
#include <iostream>

namespace esp = espalier;

struct Tree {
  std::int32_t word = 0;    // of a leaf
  std::vector<Tree> parts;  // none, or two
  std::int64_t label = 0;   // of a whole tree
};
const std::vector<std::string> kWords{"good", "bad", "not", "very"};  // any other word is number 4

Tree read_tree(std::istream& in) {  // a word, or "( TREE TREE )"
  std::string word;
  in >> word;
  if (word != "(") return {static_cast<std::int32_t>(std::ranges::find(kWords, word) - kWords.begin()), {}};
  Tree tree{-1, {read_tree(in), read_tree(in)}};
  in >> word;
  return tree;
}
std::vector<Tree> read_trees(const char* path) {  // lines of a label and a tree
  std::ifstream file(path);
  std::vector<Tree> trees;
  for (std::int64_t label = 0; file >> label; trees.back().label = label) trees.push_back(read_tree(file));
  return trees;
}

struct Net {
  esp::Model model;
  esp::nn::Embedding words{model / "words", 5, 16};
  esp::nn::BinaryTreeLstm cell{model / "cell", 16, 16};
  esp::nn::Dropout dropout{0.2};
  esp::nn::Linear classify{model / "classify", 16, 2};

  esp::nn::TreeState encode(esp::Graph& g, const Tree& t) const {
    if (t.parts.empty()) return cell.leaf(words(g, t.word));
    return cell(encode(g, t.parts[0]), encode(g, t.parts[1]));
  }
};

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::vector<Tree> train = read_trees(argv[2]), held_out = read_trees(argv[3]);
  Net net;
  const auto scores = [&](esp::Graph& g, const Tree& t) { return net.classify(net.dropout(net.encode(g, t).h)); };
  const esp::train::TaskOf<Tree> task(
      {.train = train, .held_out = held_out, .output = scores, .label = [](const Tree& t) { return t.label; }});
  esp::train::Trainer trainer(net.model, task, {.folder = argv[1], .epochs = 100, .handle_signals = true});
  const esp::train::RunResult result = trainer.run();  // begins, or goes on where an earlier call was stopped
  std::cerr << result.message << "\n";
  if (result.ending == esp::train::Ending::kInterrupted) return 3;
  while (std::cin >> std::ws && !std::cin.eof()) std::cout << task.predict(read_tree(std::cin)).argmax() << "\n";
}
