/// What the examples in the headers of blocks take for granted: a small model, and blocks over its layers. Each example
/// has one of its own.
#pragma once

#include <espalier/blocks.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::blocks::examples {

struct Tree {
  std::unique_ptr<Tree> left;
};

inline void show(const Result& result) { static_cast<void>(result); }

struct Names {
  Model model;
  Vocabulary vocabulary = Vocabulary({"good", "bad"});
  nn::Embedding words{model / "words", 2, 8};
  nn::Embedding table = words;
  nn::Linear layer{model / "layer", 8, 8};
  nn::Linear classify{model / "classify", 8, 2};
  nn::LstmCell lstm{model / "lstm", 8, 16};
  nn::GruCell gru{model / "gru", 8, 16};
  nn::BinaryTreeLstm node_cell{model / "node_cell", 8, 16};
  nn::ChildSumTreeLstm sum_cell{model / "sum_cell", 8, 16};

  Block word = lookup(vocabulary) >> embedding(words);
  Block letter = one_hot(0, 8);
  Block score = scalar();
  Block left = scalar();
  Block right = scalar();
  Block weight = scalar();
  Block scores = get("words") >> map(word) >> mean() >> classify;
  Block encoder = get("words") >> map(word) >> rnn(gru) >> get(1);
  Block combine = function([](Expr state, Expr x) { return state + x; });
  Block weigh = function([](Expr x) { return x * 2; });

  Forward tree = forward("tree");
  Block leaf = get("word") >> word >> [cell = node_cell](Expr x) { return cell.leaf(x); };
  Block inner = record({{"left", tree()}, {"right", tree()}}) >> node_cell;
  Forward dag = forward("dag");
  Block node = get("x") >> scalar();

  Program program{scores};
  Program trained{all_of({get("words") >> map(word) >> mean() >> classify, get("label")}) >> cross_entropy >>
                  loss("label")};
  std::vector<Value> sentences{Value::map({{"words", Value::list({"good", "bad"})}, {"label", 1}}),
                               Value::map({{"words", Value::list({"bad"})}, {"label", 0}})};
};

struct Entry {
  const char* form;
  void (*run)();
};
/// All of them, in the order of the headers.
extern const std::vector<Entry> kAll;

}  // namespace espalier::blocks::examples
