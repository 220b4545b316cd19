/// The code of docs/blocks.md: one model that grows from a word to a tree, section by section in one main(). The
/// program prints each claim of that page that does not hold, and then returns 1.
#include <espalier/blocks.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
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

struct Tree {
  std::string word;
  std::int32_t praise = 0;
  std::unique_ptr<Tree> left, right;

  bool is_leaf() const { return left == nullptr; }
};

}  // namespace

int main() {
  Layers net;

  // --- A word
  const b::Block word = b::lookup(net.vocabulary) >> b::embedding(net.table);
  const b::Result vector = b::eval(word, "good");  // 8 numbers
  expect(vector.leaf() == net.table(*std::make_unique<esp::Graph>(), 0).value(), "a word is a row of the table");
  expect(word.output_text() == "float[8]", "a block knows what it gives");

  // --- A sentence
  const b::Block bag = b::map(word) >> b::mean();
  const std::vector<std::string> sentence{"very", "good", "film"};
  const b::Result average = b::eval(bag, sentence);  // 8 numbers again
  expect(b::eval(b::map(word), sentence).size() == 3, "a vector for each word");
  expect(average.leaf().shape() == esp::Shape{8}, "their mean");
  expect(b::eval(bag, std::vector<std::string>()).leaf() == esp::Tensor({8}), "without words, zeros");

  // --- Order
  const b::Block reader = b::map(word) >> b::rnn(net.lstm) >> b::get(1) >> b::get(0);
  const b::Block scores = reader >> net.classify;
  expect(scores.output_text() == "float[2]", "two scores");
  const std::vector<std::string> one{"not", "good"};
  const std::vector<std::string> other{"good", "not"};
  expect(b::eval(scores, one).leaf() != b::eval(scores, other).leaf(), "the order of words counts");

  // --- A label, and training
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

  // --- Mistakes
  std::string said;
  try {
    const b::Block mistake = word >> net.classify;
  } catch (const esp::UsageError& error) {
    said = error.what();
  }
  expect(said.starts_with(
             "pipe: embedding(words.table[5, 8]) gives float[8], but Linear(classify.W) takes float[16]\n  at "),
         "a mistake names both blocks, both types, and the line");
  const esp::Value misspelt = esp::data::parse_json(R"({"words": ["very", "god"]})");
  try {
    answers.eval(misspelt);
  } catch (const esp::DataError& error) {
    said = error.what();
  }
  expect(said ==
             "lookup(5 words): the word \"god\" is not in the vocabulary\n"
             "  in instance 0: /words/1",
         "an error in the data names the place");

  // --- A tree
  const b::Forward tree = b::forward("tree");
  const b::Block leaf = b::get("word") >> word >> [cell = net.node_cell](esp::Expr x) { return cell.leaf(x); };
  const b::Block inner = b::record({{"left", tree()}, {"right", tree()}}) >> net.node_cell;
  tree.resolve_to(b::one_of(b::key("kind"), {{"leaf", leaf}, {"node", inner}}));
  const b::Block tree_scores = tree() >> b::get(0) >> net.classify;

  const esp::Value phrase = esp::data::parse_json(R"({
    "kind": "node",
    "left": {"kind": "leaf", "word": "not"},
    "right": {"kind": "node",
              "left": {"kind": "leaf", "word": "very"},
              "right": {"kind": "leaf", "word": "good"}}})");
  expect(b::eval(tree_scores, phrase).leaf().shape() == esp::Shape{2}, "a tree has two scores");
  expect(tree().output_text() == "(float[16], float[16])", "its state is a pair");

  // --- Your own structs, and any wiring
  const b::Forward phrases = b::forward("phrases");
  const b::Block token = b::get(&Tree::word) >> b::lookup(net.vocabulary) >> b::embedding(net.table) >>
                         [cell = net.node_cell](esp::Expr x) { return cell.leaf(x); };
  const b::Block pair =
      b::all_of({b::get(&Tree::left) >> phrases(), b::get(&Tree::right) >> phrases()}) >> net.node_cell;

  b::Composition node("node");
  const b::Wire state = node(b::one_of(b::key(&Tree::is_leaf), {{true, token}, {false, pair}}), node.input());
  const b::Wire node_scores = node(b::get(0) >> net.classify, state);
  const b::Wire label = node(b::get(&Tree::praise), node.input());
  node(esp::cross_entropy >> b::loss("praise"), {node_scores, label});
  node(b::metric("scores"), {node_scores, label});
  node.output().reads(state);
  phrases.resolve_to(node);

  std::vector<Tree> trees(1);
  trees[0].left = std::make_unique<Tree>(Tree{"not", 0, nullptr, nullptr});
  trees[0].right = std::make_unique<Tree>(Tree{"good", 1, nullptr, nullptr});
  const b::Program program(phrases());
  esp::Graph g;
  const b::Recording recording = program.record_all(g, trees);
  expect(recording.metric("scores").size() == 3, "scores at each node");
  expect(recording.loss->scalar() > 0, "and a loss at each node");

  // Nothing that was evaluated has changed: the first section works as before.
  expect(b::eval(word, "film").leaf().shape() == esp::Shape{8}, "evaluating a block leaves it as it is");

  if (wrong == 0) std::puts("all claims of docs/blocks.md hold");
  return wrong == 0 ? 0 : 1;
}
