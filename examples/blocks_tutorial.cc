/// The code of docs/blocks.md: one model that grows from a word to a tree. The program says which claim of that page
/// does not hold, and ends with 1 then.
#include <espalier/espalier.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

int wrong = 0;

void expect(bool holds, const char* claim) {
  if (holds) return;
  std::printf("does not hold: %s\n", claim);
  ++wrong;
}

struct Layers {
  esp::Model model;
  b::Vocabulary vocabulary = b::Vocabulary({"good", "bad", "film", "very", "not"});
  esp::nn::Embedding table{model / "words", 5, 8};
  esp::nn::LstmCell lstm{model / "lstm", 8, 16};
  esp::nn::Linear classify{model / "classify", 16, 2};
  esp::nn::BinaryTreeLstm node_cell{model / "node", 8, 16};
};

void a_word() {
  Layers net;
  const b::Block word = b::lookup(net.vocabulary) >> b::embedding(net.table);
  const b::Result vector = b::eval(word, "good");  // 8 numbers
  expect(vector.leaf() == net.table(*std::make_unique<esp::Graph>(), 0).value(), "a word is a row of the table");
  expect(word.output_text() == "float[8]", "a block knows what it gives");
}

void a_sentence() {
  Layers net;
  const b::Block word = b::lookup(net.vocabulary) >> b::embedding(net.table);
  const b::Block bag = b::map(word) >> b::mean();
  const std::vector<std::string> sentence{"very", "good", "film"};
  expect(b::eval(b::map(word), sentence).size() == 3, "a vector for each word");
  expect(b::eval(bag, sentence).leaf().shape() == esp::Shape{8}, "their mean");
  expect(b::eval(bag, std::vector<std::string>()).leaf() == esp::Tensor({8}), "without words, zeros");
}

void order_counts() {
  Layers net;
  const b::Block word = b::lookup(net.vocabulary) >> b::embedding(net.table);
  const b::Block sentence = b::map(word) >> b::rnn(net.lstm) >> b::get(1) >> b::get(0);
  const b::Block scores = sentence >> net.classify;
  expect(scores.output_text() == "float[2]", "two scores");
  const std::vector<std::string> one{"not", "good"};
  const std::vector<std::string> other{"good", "not"};
  expect(b::eval(scores, one).leaf() != b::eval(scores, other).leaf(), "the order of words counts");
}

b::Block sentence_scores(const Layers& net) {
  return b::map(b::lookup(net.vocabulary) >> b::embedding(net.table)) >> b::rnn(net.lstm) >> b::get(1) >> b::get(0) >>
         net.classify;
}

void training() {
  Layers net;
  const b::Block scores = sentence_scores(net);
  const std::vector<esp::Value> examples{
      esp::data::parse_json(R"({"words": ["very", "good", "film"], "praise": 1})"),
      esp::data::parse_json(R"({"words": ["good"], "praise": 1})"),
      esp::data::parse_json(R"({"words": ["not", "good"], "praise": 0})"),
      esp::data::parse_json(R"({"words": ["bad", "film"], "praise": 0})"),
  };
  const b::Block praise = b::get("words") >> scores;
  const b::Program losses(b::all_of({praise, b::get("praise")}) >> esp::cross_entropy >> b::loss("praise"));
  esp::optim::Adam adam(net.model, {.learning_rate = 0.02});
  for (int step = 0; step < 60; ++step) {
    esp::Graph g;
    losses.loss(g, examples).backward();  // all sentences at once, whatever their lengths
    adam.step();
  }

  const b::Program answers(praise);
  int right = 0;
  std::size_t i = 0;
  for (const b::Result& result : b::stream(answers, examples)) {
    const bool praises = result.leaf().at(1) > result.leaf().at(0);
    right += praises == (examples[i++].at("praise").as_integer() == 1) ? 1 : 0;
  }
  expect(right == 4, "it learns four sentences");
}

void mistakes() {
  Layers net;
  std::string said;
  try {
    const b::Block word = b::lookup(net.vocabulary) >> b::embedding(net.table);
    const b::Block scores = word >> net.classify;
  } catch (const esp::UsageError& error) {
    said = error.what();
  }
  expect(said.starts_with("pipe: the output of pipe is float[8] and the input of function() is float[16]\n  at "),
         "a mistake names both types, and the line");
}

void a_tree() {
  Layers net;
  const b::Forward tree = b::forward("tree");
  const b::Block leaf = b::get("word") >> b::lookup(net.vocabulary) >> b::embedding(net.table) >>
                        [cell = net.node_cell](esp::Expr x) { return cell.leaf(x); };
  const b::Block inner = b::record({{"left", tree()}, {"right", tree()}}) >> net.node_cell;
  tree.resolve_to(b::one_of(b::key("kind"), {{"leaf", leaf}, {"node", inner}}));
  const b::Block scores = tree() >> b::get(0) >> net.classify;

  const esp::Value phrase = esp::data::parse_json(R"({
    "kind": "node",
    "left": {"kind": "leaf", "word": "not"},
    "right": {"kind": "node",
              "left": {"kind": "leaf", "word": "very"},
              "right": {"kind": "leaf", "word": "good"}}})");
  expect(b::eval(scores, phrase).leaf().shape() == esp::Shape{2}, "a tree has two scores");
  expect(tree().output_text() == "(float[16], float[16])", "its state is a pair");
}

struct Tree {
  std::string word;
  std::int32_t praise = 0;
  std::unique_ptr<Tree> left, right;

  bool is_leaf() const { return left == nullptr; }
};

void any_wiring() {
  Layers net;
  const b::Forward tree = b::forward("tree");
  const b::Block leaf = b::get(&Tree::word) >> b::lookup(net.vocabulary) >> b::embedding(net.table) >>
                        [cell = net.node_cell](esp::Expr x) { return cell.leaf(x); };
  const b::Block inner = b::all_of({b::get(&Tree::left) >> tree(), b::get(&Tree::right) >> tree()}) >> net.node_cell;

  b::Composition node("node");
  const b::Wire state = node(b::one_of(b::key(&Tree::is_leaf), {{true, leaf}, {false, inner}}), node.input());
  const b::Wire scores = node(b::get(0) >> net.classify, state);
  const b::Wire praise = node(b::get(&Tree::praise), node.input());
  node(esp::cross_entropy >> b::loss("praise"), {scores, praise});
  node(b::metric("scores"), {scores, praise});
  node.output().reads(state);
  tree.resolve_to(node);

  std::vector<Tree> trees(1);
  trees[0].left = std::make_unique<Tree>(Tree{"not", 0, nullptr, nullptr});
  trees[0].right = std::make_unique<Tree>(Tree{"good", 1, nullptr, nullptr});
  const b::Program program(tree());
  esp::Graph g;
  const b::Recording recording = program.record_all(g, trees);
  expect(recording.metric("scores").size() == 3, "scores at each node");
  expect(recording.loss->scalar() > 0, "and a loss at each node");
}

}  // namespace

int main() {
  a_word();
  a_sentence();
  order_counts();
  training();
  mistakes();
  a_tree();
  any_wiring();
  if (wrong == 0) std::puts("all claims of docs/blocks.md hold");
  return wrong == 0 ? 0 : 1;
}
