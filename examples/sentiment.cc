/// Sentiment by a Tree-LSTM (Tai, Socher and Manning, 2015) over trees in brackets, as the Stanford treebank has them:
/// each phrase has a label, from 0 for awful to 4 for wonderful, and each adds to the loss. The trees are made up.
#include <espalier/blocks.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

struct Phrase {
  std::string text;
  int label = 2;
};

Phrase join(const Phrase& left, const Phrase& right, int label) {
  return {"(" + std::to_string(label) + " " + left.text + " " + right.text + ")", label};
}
Phrase word(const std::string& text, int label = 2) { return {"(" + std::to_string(label) + " " + text + ")", label}; }

const std::vector<std::vector<std::string>> kAdjectives{
    {"awful", "horrid"}, {"bad", "dull"}, {"long", "new"}, {"good", "funny"}, {"wonderful", "brilliant"}};
const std::vector<std::string> kNouns{"film", "plot", "cast", "story"};

std::string any(esp::Random& random, const std::vector<std::string>& words) {
  return words[static_cast<std::size_t>(random.below(std::ssize(words)))];
}

/// `very` makes good wonderful and bad awful; `not` turns round, and softens; of `but`, the second half counts.
Phrase phrase(esp::Random& random, int depth) {
  const std::int64_t kind = depth == 0 ? 0 : random.below(4);
  if (kind == 0) {
    const int label = static_cast<int>(random.below(5));
    return join(word(any(random, kAdjectives[static_cast<std::size_t>(label)]), label), word(any(random, kNouns)),
                label);
  }
  const Phrase rest = phrase(random, depth - 1);
  if (kind == 1) return join(word("very"), rest, rest.label == 2 ? 2 : rest.label < 2 ? 0 : 4);
  if (kind == 2) return join(word("not"), rest, rest.label == 2 ? 2 : rest.label < 2 ? 3 : 1);
  return join(phrase(random, depth - 1), join(word("but"), rest, rest.label), rest.label);
}

std::vector<esp::Value> trees(esp::Random& random, int count) {
  std::vector<esp::Value> result;
  result.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    result.push_back(esp::data::parse_sexpr(phrase(random, 4).text, esp::data::SexprForm::kTrees));
  return result;
}

b::Vocabulary vocabulary() {
  std::vector<std::string> words{"very", "not", "but"};
  for (const auto& of_label : kAdjectives) words.insert(words.end(), of_label.begin(), of_label.end());
  words.insert(words.end(), kNouns.begin(), kNouns.end());
  return b::Vocabulary(words);
}

// model begins
b::Block tree_lstm(esp::Model& model, const b::Vocabulary& words) {
  const esp::nn::Embedding table(model / "words", words.size(), 16);
  const esp::nn::BinaryTreeLstm cell(model / "cell", 16, 24);
  const esp::nn::Linear classify(model / "classify", 24, 5);
  const esp::nn::Dropout dropout(0.1);
  const b::Forward tree = b::forward("tree");
  // (label word) or (label tree tree): a list of two or three.
  const b::Block leaf =
      b::get(1) >> b::lookup(words) >> b::embedding(table) >> dropout >> [cell](esp::Expr x) { return cell.leaf(x); };
  const b::Block inner = b::all_of({b::get(1) >> tree(), b::get(2) >> tree()}) >> cell;
  const auto parts = b::key([](const esp::Value& node) { return node.size(); });

  b::Composition node("node");
  const b::Wire label = node(b::get(0), node.input());
  const b::Wire state = node(b::one_of(parts, {{2, leaf}, {3, inner}}), node.input());
  const b::Wire scores = node(b::get(0) >> dropout >> classify, state);
  node(esp::cross_entropy >> b::loss("labels"), {scores, label});
  node(b::metric("scores"), {scores, label});
  node.output().reads(state);
  tree.resolve_to(node);
  return tree();
}
// model ends

struct Accuracy {
  double of_phrases = 0;
  double of_sentences = 0;
};

Accuracy accuracy(const b::Program& program, const std::vector<esp::Value>& set) {
  esp::Graph g({.training = false});
  const std::vector<b::Recording::Entry> entries = program.record_all(g, set).metric("scores");
  Accuracy result;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const esp::Tensor scores = entries[i].value.leaf().value();
    const auto best = std::ranges::max_element(scores.as<float>()) - scores.as<float>().begin();
    if (best != entries[i].label.input<esp::Value>().as_integer()) continue;
    // Parts come before the whole: the last of an instance is the sentence.
    const bool is_sentence = i + 1 == entries.size() || entries[i + 1].instance != entries[i].instance;
    result.of_phrases += 1 / static_cast<double>(entries.size());
    result.of_sentences += is_sentence ? 1 / static_cast<double>(set.size()) : 0;
  }
  return result;
}

void print(const char* when, const Accuracy& a) {
  std::printf("%s %5.1f %% of phrases and %5.1f %% of sentences right\n", when, 100 * a.of_phrases,
              100 * a.of_sentences);
}

}  // namespace

int main() {
  esp::Model model;
  const b::Program program(tree_lstm(model, vocabulary()));
  esp::Random random(10);
  const std::vector<esp::Value> held_out = trees(random, 300);
  print("before:", accuracy(program, held_out));
  esp::optim::Adam adam(model, {.learning_rate = 5e-3});
  for (int step = 0; step < 200; ++step) {
    esp::Graph g;  // draws masks of dropout of its own
    program.loss(g, trees(random, 32)).backward();
    adam.step();
  }
  const Accuracy after = accuracy(program, held_out);
  print("after: ", after);
  if (after.of_phrases > 0.97 && after.of_sentences > 0.95) return 0;
  std::puts("more than 97 % of phrases and 95 % of sentences are expected");
  return 1;
}
