/// The model "sentiment" (models/sentiment_net.h) over labelled trees.
#include <fmt/format.h>

#include <optional>

#include "espalier/data/treebank.h"
#include "espalier/models/binary_trees.h"
#include "espalier/models/model_of.h"
#include "espalier/models/registry.h"
#include "espalier/models/sentiment_net.h"
#include "espalier/models/vectors.h"
#include "espalier/models/words.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

class Sentiment final : public ModelOf<data::LabelledTree, BinaryTree> {
 public:
  std::string_view name() const override { return "sentiment"; }
  train::Answers answers() const override { return train::Answers::kClasses; }
  std::vector<std::string> classes() const override {
    if (settings_.classes == 2) return {"negative", "positive"};
    if (settings_.classes == 5) return {"very negative", "negative", "neutral", "positive", "very positive"};
    std::vector<std::string> numbers;
    numbers.reserve(static_cast<std::size_t>(settings_.classes));
    for (std::int32_t c = 0; c < settings_.classes; ++c) numbers.push_back(std::to_string(c));
    return numbers;
  }
  std::string describe() const override {
    return fmt::format("{} words that occur at least {} times; {} classes; cell {}\n", words_.size() - 1, min_count_,
                       settings_.classes, settings_.cell);
  }
  /// A word, and a tree with both kinds of children on both sides.
  std::vector<Value> samples() const override {
    return {Value::map({{"tree", "(1 a)"}}), Value::map({{"tree", "(1 (1 (1 a) (1 b)) (1 (1 c) (1 (1 d) (1 e))))"}})};
  }

 private:
  void list(SettingList& list) override {
    settings_.list(list);
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

  RecordSource<data::LabelledTree> open(data::Input input, const data::ReadOptions& options) const override {
    const auto reader = std::make_shared<data::TreebankReader>(
        std::move(input), data::TreebankOptions{.labels = settings_.classes == 2 ? 5 : settings_.classes}, options);
    if (settings_.classes != 2) return source_of(reader);
    // Neutral sentences are no part of the task of two classes.
    return {[reader](data::LabelledTree& tree) {
              bool more = reader->next(tree);
              while (more && tree.tree.label() == kNeutral) more = reader->next(tree);
              return more;
            },
            [reader]() -> const data::ReadReport& { return reader->report(); },
            [reader](const DataError& error) { reader->refuse(error); }};
  }
  data::LabelledTree from_json(const Value& value, const std::string& place) const override {
    data::TreebankReader reader(data::Input::text(std::string(value.at("tree").as_string()), place));
    data::LabelledTree tree;
    if (!reader.next(tree)) throw UsageError("\"tree\" has no tree");
    return tree;
  }
  std::string text_of(const data::LabelledTree& record) const override {
    return fmt::format("{}", fmt::join(record.words, " "));
  }

  void learn(std::span<const data::LabelledTree> records) override {
    WordCounts counts;
    for (const data::LabelledTree& record : records)
      for (const std::string& word : record.words) count_word(counts, shown(word));
    words_ = vectors_.with_words_of_file(Words(counts, min_count_));
  }
  void make_network(Model& model) override {
    net_.emplace(model, settings_, words_.size(), vectors_.table(words_, settings_.embedding), form());
  }
  BinaryTree encode(const data::LabelledTree& record, bool) const override {
    BinaryTree tree = binary_tree(record.tree);
    for (BinaryTree::Node& node : tree.nodes) {
      if (node.is_leaf()) node.word = words_.number(shown(record.words[static_cast<std::size_t>(node.word)]));
      if (settings_.classes == 2 && node.label != kNoLabel)
        node.label = node.label == kNeutral ? kNoLabel : (node.label > kNeutral ? 1 : 0);
    }
    return tree;
  }
  std::int64_t nodes_of(const BinaryTree& tree) const override { return std::ssize(tree.nodes); }

  Expr output_of(Graph& graph, const BinaryTree& tree) const override { return net_->scores(graph, tree); }
  Expr loss_of(Graph& graph, const BinaryTree& tree, Expr& output) const override {
    return sum({net_->loss(graph, tree, &output)});
  }
  void read_output(const BinaryTree& tree, const Tensor& output, train::Prediction& prediction) const override {
    if (tree.nodes.back().label != kNoLabel) train::read_class(output, tree.nodes.back().label, prediction);
  }
  Value answer(const data::LabelledTree&, const BinaryTree&, const Tensor& output) const override {
    return class_answer(classes(), output);
  }

  std::string shown(const std::string& word) const { return lower_case_ ? models::lower_case(word) : word; }

  static constexpr std::int32_t kNeutral = 2;

  SentimentSettings settings_;
  std::int32_t min_count_ = 1;
  bool lower_case_ = false;
  VectorSettings vectors_;
  Words words_;
  std::optional<SentimentNet> net_;
};

}  // namespace

std::unique_ptr<StandardModel> make_sentiment() { return std::make_unique<Sentiment>(); }

}  // namespace espalier::models
