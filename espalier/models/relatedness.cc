/// The model "relatedness" (models/relatedness_net.h) over pairs of sentences with their dependencies.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "espalier/data/dependency.h"
#include "espalier/data/describe.h"
#include "espalier/data/sick.h"
#include "espalier/models/dependency_trees.h"
#include "espalier/models/json_schema.h"
#include "espalier/models/model_of.h"
#include "espalier/models/registry.h"
#include "espalier/models/relatedness_net.h"
#include "espalier/models/vectors.h"
#include "espalier/models/words.h"
#include "espalier/train/correlation.h"
#include "espalier/train/number_errors.h"

namespace espalier::models {
namespace {

// A record is a pair without a score if its relatedness is 0: scores begin at 1.
class Relatedness final : public ModelOf<data::ParsedPair, TreePair> {
 public:
  std::string_view name() const override { return "relatedness"; }
  train::Answers answers() const override { return train::Answers::kNumbers; }
  std::vector<train::Metric> measure(std::span<const train::Prediction> predictions) const override {
    std::vector<double> expected;
    std::vector<double> predicted;
    for (const train::Prediction& pair : predictions) {
      expected.insert(expected.end(), pair.expected.begin(), pair.expected.end());
      predicted.insert(predicted.end(), pair.predicted.begin(), pair.predicted.end());
    }
    return {{"pearson", train::pearson(expected, predicted)},
            {"spearman", train::spearman(expected, predicted)},
            {"mse", train::mean_squared_error(expected, predicted), false}};
  }
  std::string describe() const override {
    return fmt::format("{} words that occur at least {} times; sentences are {}; scores from 1 to {}\n",
                       words_.size() - 1, min_count_, trees_ ? "dependency trees" : "chains of words",
                       settings_.scores);
  }
  /// A word without dependents, and words with one, two and three.
  std::vector<Value> samples() const override {
    const auto sentence = [](const std::vector<Value>& heads) {
      return Value::map({{"words", Value::list(std::vector<Value>(heads.size(), "a"))}, {"heads", Value::list(heads)}});
    };
    const Value word = sentence({0});
    const Value tree = sentence({0, 1, 1, 2, 2, 2, 3});
    return {Value::map({{"a", word}, {"b", tree}}), Value::map({{"a", tree}, {"b", word}})};
  }

 private:
  void list(SettingList& list) override {
    settings_.list(list);
    list.add("trees", trees_, "read sentences along their dependencies; false: as chains of words, by an LSTM");
    list.add("min_count", min_count_, "rarer words are one unknown word", 1);
    list.add("lower_case", lower_case_, "read words in lower case");
    vectors_.list(list);
  }
  Value facts() const override { return Value::map({{"words", words_.to_value()}}); }
  void restore(const Value& facts) override {
    words_ = Words::from_value(facts.at("words"));
    set_weights(std::make_unique<Model>());
    vectors_.path.clear();  // the weights have them
    make_network(weights());
  }

  /// A file is the table of SICK, or JSON lines.
  RecordSource<data::ParsedPair> open(data::Input input, const data::ReadOptions& options) const override {
    if (!input.is_file() || data::guess_format(input.name()) != data::DataFormat::kSickTable)
      return json_source(std::move(input), options);
    if (trees_)
      throw DataError(input.name() +
                      ": the sentences of this table have no dependencies; read them as chains of words with the "
                      "setting \"trees\" false, or give a folder of parsed sentences");
    const auto reader = std::make_shared<data::SickReader>(std::move(input), options);
    return {[reader](data::ParsedPair& record) {
              data::SickPair pair;
              if (!reader->next(pair)) return false;
              record = {.id = pair.id,
                        .a = {.words = words_of_text(pair.a), .heads = {}, .relations = {}},
                        .b = {.words = words_of_text(pair.b), .heads = {}, .relations = {}},
                        .relatedness = pair.relatedness};
              return true;
            },
            [reader]() -> const data::ReadReport& { return reader->report(); },
            [reader](const DataError& error) { reader->refuse(error); }};
  }
  RecordSource<data::ParsedPair> open_folder(const std::filesystem::path& folder,
                                             const data::ReadOptions& options) const override {
    return source_of(std::make_shared<data::ParsedSickReader>(folder, options));
  }
  data::ParsedPair from_json(const Value& value, const std::string& place) const override {
    data::ParsedPair record{.id = place, .a = sentence_in(value.at("a")), .b = sentence_in(value.at("b"))};
    if (const Value* score = value.find("score")) record.relatedness = score->as_float();
    return record;
  }
  data::ParsedSentence sentence_in(const Value& value) const {
    data::ParsedSentence sentence;
    if (value.is_string() && !trees_)
      sentence.words = words_of_text(value.as_string());
    else
      for (const Value& word : value.at("words").items()) sentence.words.emplace_back(word.as_string());
    if (sentence.words.empty()) throw UsageError("a sentence has no words");
    if (!trees_) return sentence;
    const Value& heads = value.at("heads");
    if (heads.size() != sentence.words.size())
      throw UsageError(fmt::format("there are {} words and {} heads", sentence.words.size(), heads.size()));
    for (const Value& head : heads.items()) {
      if (head.as_integer() < 0 || head.as_integer() > std::ssize(sentence.words))
        throw UsageError(fmt::format("expected a head from 0 to {}, not {}", sentence.words.size(), head.as_integer()));
      sentence.heads.push_back(static_cast<std::int32_t>(head.as_integer()));
    }
    if (const std::optional<data::HeadError> error = data::find_head_error(sentence.heads))
      throw UsageError(error->message);
    return sentence;
  }
  std::string text_of(const data::ParsedPair& record) const override {
    return fmt::format("{} | {}", fmt::join(record.a.words, " "), fmt::join(record.b.words, " "));
  }

  void learn(std::span<const data::ParsedPair> records) override {
    WordCounts counts;
    for (const data::ParsedPair& record : records)
      for (const data::ParsedSentence* sentence : {&record.a, &record.b})
        for (const std::string& word : sentence->words) count_word(counts, shown(word));
    words_ = vectors_.with_words_of_file(Words(counts, min_count_));
  }
  void make_network(Model& model) override {
    net_.emplace(model, settings_, words_.size(), vectors_.table(words_, settings_.embedding), form());
  }
  TreePair encode(const data::ParsedPair& record, bool labelled) const override {
    if (labelled && !(record.relatedness >= 1 && record.relatedness <= settings_.scores))
      throw DataError(fmt::format("pair {}: expected a score from 1 to {}, not {}", record.id, settings_.scores,
                                  record.relatedness == 0 ? "none" : fmt::format("{}", record.relatedness)));
    TreePair pair{.a = tree_of(record.a), .b = tree_of(record.b)};
    if (labelled) pair.score = record.relatedness;
    return pair;
  }
  DependencyTree tree_of(const data::ParsedSentence& sentence) const {
    DependencyTree tree = dependency_tree(trees_ ? sentence.heads : chain(sentence.words.size()));
    for (DependencyTree::Node& node : tree.nodes)
      node.word = words_.number(shown(sentence.words[static_cast<std::size_t>(node.word)]));
    return tree;
  }
  /// Each word depends on the next one: the root, at the end, has read the sentence from the left.
  static std::vector<std::int32_t> chain(std::size_t length) {
    std::vector<std::int32_t> heads(length);
    std::iota(heads.begin(), heads.end(), 2);
    heads.back() = 0;
    return heads;
  }
  std::int64_t nodes_of(const TreePair& pair) const override {
    return std::ssize(pair.a.nodes) + std::ssize(pair.b.nodes);
  }

  Expr output_of(Graph& graph, const TreePair& pair) const override { return net_->distribution(graph, pair); }
  Expr loss_of(Graph& graph, const TreePair& pair, Expr& output) const override {
    output = net_->distribution(graph, pair);
    return net_->loss(output, pair.score);
  }
  void read_output(const TreePair& pair, const Tensor& output, train::Prediction& prediction) const override {
    prediction.expected.push_back(pair.score);
    prediction.predicted.push_back(RelatednessNet::score_of(output));
  }
  Value answer(const data::ParsedPair&, const TreePair&, const Tensor& output) const override {
    std::vector<Value> probabilities;
    probabilities.reserve(static_cast<std::size_t>(output.elements()));
    for (std::int64_t k = 0; k < output.elements(); ++k) probabilities.emplace_back(std::exp(output.at(k)));
    return Value::map(
        {{"score", RelatednessNet::score_of(output)}, {"probabilities", Value::list(std::move(probabilities))}});
  }

  std::string shown(const std::string& word) const { return lower_case_ ? models::lower_case(word) : word; }

  RelatednessSettings settings_;
  bool trees_ = true;
  std::int32_t min_count_ = 1;
  bool lower_case_ = true;
  VectorSettings vectors_;
  Words words_;
  std::optional<RelatednessNet> net_;
};

}  // namespace

std::unique_ptr<StandardModel> make_relatedness() { return std::make_unique<Relatedness>(); }

}  // namespace espalier::models
