/// A tree model over your own JSON: learns from examples whether a rule such as {"any": ["guest", {"all": [...]}]} lets
/// a user in. The program makes its JSON lines itself, trains on some of them, and is judged by the others.
#include <espalier/blocks.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

namespace {

const std::vector<std::string> kWords{"admin", "paid", "staff", "guest", "trial", "expired"};  // the first three count
const std::vector<std::string> kKinds{"all", "any"};

// --- the data

/// A rule as JSON, and whether it holds.
std::pair<std::string, bool> random_rule(std::mt19937& random, int depth) {
  if (depth == 0 || random() % 4 == 0) {
    const std::size_t word = random() % kWords.size();
    return {"\"" + kWords[word] + "\"", word < 3};
  }
  const bool all = random() % 2 == 0;
  std::string parts;
  bool holds = all;
  const std::size_t count = 1 + random() % 3;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [part, part_holds] = random_rule(random, depth - 1);
    parts += (i == 0 ? "" : ", ") + part;
    holds = all ? holds && part_holds : holds || part_holds;
  }
  return {std::string(all ? R"({"all": [)" : R"({"any": [)") + parts + "]}", holds};
}

void write_rules(const std::filesystem::path& path, int count) {
  std::ofstream file(path);
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    const auto [rule, holds] = random_rule(random, 3);
    file << R"({"rule": )" << rule << R"(, "allowed": )" << (holds ? "true" : "false") << "}\n";
  }
}

std::vector<esp::Value> read_rules(const std::filesystem::path& path) {
  std::vector<esp::Value> examples;
  for (const esp::Value& example : esp::data::json_lines(path)) examples.push_back(example);
  return examples;
}

// --- the model, as plain code

struct Net {
  esp::Model model;
  b::Vocabulary vocabulary{kWords};
  b::Vocabulary kind_names{kKinds};
  esp::nn::Embedding words{model / "words", vocabulary.size(), 16};
  esp::nn::Embedding kinds{model / "kinds", kind_names.size(), 16};
  esp::nn::ChildSumTreeLstm cell{model / "cell", 16, 32};
  esp::nn::Linear classify{model / "classify", 32, 2};

  esp::nn::TreeState encode(esp::Graph& g, const esp::Value& rule) const {
    if (rule.is_string()) return cell.leaf(words(g, vocabulary.find(rule.as_string())));
    const esp::Value::Entry& only = rule.entries()[0];  // {"all": [...]} or {"any": [...]}
    std::vector<esp::nn::TreeState> parts;
    for (const esp::Value& part : only.value.items()) parts.push_back(encode(g, part));
    return cell(kinds(g, kind_names.find(only.key)), parts);
  }
  esp::Expr scores(esp::Graph& g, const esp::Value& example) const { return classify(encode(g, example.at("rule")).h); }
};

std::int32_t label_of(const esp::Value& example) { return example.at("allowed").as_bool() ? 1 : 0; }

// --- training and evaluation

double train_step(const Net& net, const std::vector<esp::Value>& batch, esp::optim::Optimizer& optimizer) {
  esp::Graph g;  // a new graph per batch; recording computes nothing yet
  std::vector<esp::Expr> losses;
  for (const esp::Value& example : batch) {
    g.begin_instance();
    losses.push_back(esp::cross_entropy(net.scores(g, example), label_of(example)));
  }
  const esp::Expr loss = esp::mean(losses);
  loss.backward();  // computes all trees of the batch together
  optimizer.step();
  return loss.scalar();
}

double accuracy(const Net& net, const std::vector<esp::Value>& examples) {
  esp::Graph g({.training = false});
  std::vector<esp::Expr> scores;
  for (const esp::Value& example : examples) {
    g.begin_instance();
    scores.push_back(net.scores(g, example));
  }
  int right = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const esp::Tensor& score = scores[i].value();  // the first call computes all of them
    right += (score.at(1) > score.at(0)) == (label_of(examples[i]) == 1) ? 1 : 0;
  }
  return right / static_cast<double>(examples.size());
}

// --- the same model, as blocks

b::Block scores_of_rules(const Net& net) {
  const b::Forward rule = b::forward("rule");
  const auto of_kind = [&](const char* kind) {
    const b::Block own = b::input_transform([kind = std::string(kind)](const esp::Value&) { return kind; });
    return b::all_of({own >> b::lookup(net.kind_names) >> b::embedding(net.kinds), b::get(kind) >> b::map(rule())}) >>
           b::child_sum(net.cell);
  };
  const b::Block leaf =
      b::lookup(net.vocabulary) >> b::embedding(net.words) >> [cell = net.cell](esp::Expr x) { return cell.leaf(x); };
  const b::KeyFunction kind = b::key([](const esp::Value& node) {
    return node.is_string() ? std::string("word") : std::string(node.entries()[0].key);
  });
  rule.resolve_to(b::one_of(kind, {{"word", leaf}, {"all", of_kind("all")}, {"any", of_kind("any")}}));
  return b::get("rule") >> rule() >> b::get(0) >> net.classify;
}

}  // namespace

int main() {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("rules" + std::to_string(std::random_device()()) + ".jsonl");
  write_rules(path, 800);
  std::vector<esp::Value> train = read_rules(path);
  std::filesystem::remove(path);
  const std::vector<esp::Value> held_out(train.end() - 200, train.end());
  train.resize(600);

  Net net;
  esp::optim::Adam adam(net.model, {.learning_rate = 0.01});
  std::mt19937 random(2);
  constexpr std::size_t kBatch = 32;
  for (int epoch = 0; epoch < 12; ++epoch) {
    std::shuffle(train.begin(), train.end(), random);
    double loss = 0;
    for (std::size_t i = 0; i + kBatch <= train.size(); i += kBatch)
      loss = train_step(
          net,
          {train.begin() + static_cast<std::ptrdiff_t>(i), train.begin() + static_cast<std::ptrdiff_t>(i + kBatch)},
          adam);
    std::printf("epoch %2d  loss %.4f\n", epoch, loss);
  }
  const double right = accuracy(net, held_out);
  std::printf("%.1f %% of %zu rules that it never saw are right\n", 100 * right, held_out.size());

  // The blocks share the trained weights, so they must give the same scores.
  const b::Program program(scores_of_rules(net));
  esp::Graph g({.training = false});
  const esp::Tensor by_hand = net.scores(g, held_out[0]).value();
  const esp::Tensor by_blocks = program.eval(held_out[0]).leaf();
  const bool same =
      std::abs(by_hand.at(0) - by_blocks.at(0)) < 1e-4 && std::abs(by_hand.at(1) - by_blocks.at(1)) < 1e-4;

  // An error in the data names its place.
  std::string said;
  try {
    program.eval(esp::data::parse_json(R"({"rule": {"any": ["guest", {"all": ["admin", "amdin"]}]}})"));
  } catch (const esp::DataError& error) {
    said = error.what();
  }
  const bool told = said.ends_with("in instance 0: /rule/any/1/all/1");
  return right >= 0.95 && same && told ? 0 : 1;
}
