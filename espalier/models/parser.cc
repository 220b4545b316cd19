/// The model "parser" (models/parser_net.h) over sentences of CoNLL-U.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include "espalier/control/run_batched.h"
#include "espalier/data/conllu.h"
#include "espalier/data/utf8.h"
#include "espalier/models/model_of.h"
#include "espalier/models/parser_net.h"
#include "espalier/models/registry.h"
#include "espalier/models/words.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

/// Words with, if they are known, their heads (0: the root) and labels.
struct ParserRecord {
  std::vector<std::string> words;
  std::vector<std::int32_t> heads;
  std::vector<std::string> labels;
};

/// The kinds of affixes: the last one, two and three characters, the first two, and the shape.
constexpr std::size_t kAffixes = 5;

/// Which kinds of characters a word begins with and has at all.
std::string shape_of(std::string_view word) {
  const auto any = [&](int (*is)(int)) {
    return std::any_of(word.begin(), word.end(), [&](char c) { return is(static_cast<unsigned char>(c)) != 0; });
  };
  const auto first = static_cast<unsigned char>(word.empty() ? ' ' : word.front());
  return fmt::format("{}{}{}{}{}", std::isupper(first) != 0 ? 'U' : 'u', any(std::isupper) ? 'U' : 'u',
                     any(std::islower) ? 'l' : 'L', any(std::isdigit) ? 'd' : 'D', any(std::isalnum) ? 'a' : 'p');
}

std::array<std::string, kAffixes> affixes_of(const std::string& word) {
  const std::string lower = lower_case(word);
  const std::vector<std::string_view> characters = data::characters_of(lower);
  std::array<std::string, kAffixes> affixes;
  const std::size_t count = characters.size();
  for (std::size_t size = 1; size <= 3; ++size)
    for (std::size_t c = count - std::min(count, size); c < count; ++c) affixes[size - 1] += characters[c];
  for (std::size_t c = 0; c < std::min<std::size_t>(count, 2); ++c) affixes[3] += characters[c];
  affixes[4] = shape_of(word);
  return affixes;
}

class Parser final : public ModelOf<ParserRecord, ParserSentence> {
 public:
  std::string_view name() const override { return "parser"; }
  /// LAS: words with the right head and label; UAS: with the right head. Punctuation counts.
  std::vector<train::Metric> measure(std::span<const train::Prediction> predictions) const override {
    double words = 0;
    double attached = 0;
    double labelled = 0;
    for (const train::Prediction& of : predictions) {
      const std::size_t count = of.expected.size() / 2;
      for (std::size_t w = 0; w < count; ++w) {
        const bool is_attached = of.expected[w] == of.predicted[w];
        attached += is_attached ? 1 : 0;
        labelled += is_attached && of.expected[count + w] == of.predicted[count + w] ? 1 : 0;
      }
      words += static_cast<double>(count);
    }
    const double least = std::max(words, 1.0);
    return {{"las", labelled / least, true}, {"uas", attached / least, true}};
  }
  std::string_view why_not_exported() const override {
    return "each move depends on the scores of the one before, and a static graph makes no decisions";
  }
  std::string describe() const override {
    return fmt::format("{} words that occur at least {} times, {} labels; {} of {} training trees made projective\n",
                       words_.size() - 1, min_count_, labels_.size() - 1, lifted_, records_learned_);
  }

  /// Values are needed in the middle: to parse, and to learn from the network's own mistakes.
  std::vector<train::Recorded> record_all(Graph& graph, train::Split split,
                                          std::span<const std::int64_t> instances) const override {
    const bool training = graph.options().training;
    if (training && settings_.oracle == "static") return Task::record_all(graph, split, instances);
    std::vector<std::uint64_t> keys(instances.begin(), instances.end());
    return run_batched(
        graph, instances,
        [&, training](Graph& of, std::int64_t i) { return record_one(of, instance(split, i), training); },
        {.in_flight = kInFlight, .keys = keys});
  }

 private:
  /// Beside the words of the data: the token before a sentence and the root.
  static constexpr std::int32_t kSpecial = 2;
  static constexpr std::int64_t kInFlight = 4096;  // all that are recorded together

  void list(SettingList& list) override {
    settings_.list(list);
    list.add("min_count", min_count_, "rarer words and affixes are one unknown", 1);
    list.add("subtypes", subtypes_, "labels as they are; else only what is before a \":\"");
  }
  Value facts() const override {
    std::vector<Value> affixes;
    for (const Words& each : affixes_) affixes.push_back(each.to_value());
    return Value::map(
        {{"words", words_.to_value()}, {"affixes", Value::list(std::move(affixes))}, {"labels", labels_.to_value()}});
  }
  void restore(const Value& facts) override {
    words_ = Words::from_value(facts.at("words"));
    const Value& affixes = facts.at("affixes");
    for (std::size_t i = 0; i < kAffixes; ++i) affixes_[i] = Words::from_value(affixes.items()[i]);
    labels_ = Words::from_value(facts.at("labels"));
    set_weights(std::make_unique<Model>());
    make_network(weights());
  }

  RecordSource<ParserRecord> open(data::Input input, const data::ReadOptions& options) const override {
    const auto reader =
        std::make_shared<data::ConlluReader>(std::move(input), data::ConlluOptions{.require_tree = false}, options);
    return {[this, reader](ParserRecord& record) {
              for (data::ConlluSentence sentence; reader->next(sentence);) {
                record = {};
                for (const data::ConlluWord& word : sentence.words) {
                  record.words.push_back(word.form);
                  record.heads.push_back(word.head);
                  record.labels.push_back(shown(word.deprel));
                }
                if (!record.words.empty()) return true;
              }
              return false;
            },
            [reader]() -> const data::ReadReport& { return reader->report(); },
            [reader](const DataError& error) { reader->refuse(error); }};
  }
  ParserRecord from_json(const Value& value, const std::string&) const override {
    ParserRecord record;
    for (const Value& word : value.at("words").items()) record.words.emplace_back(word.as_string());
    if (record.words.empty()) throw UsageError("\"words\" is empty");
    return record;
  }
  std::string text_of(const ParserRecord& record) const override {
    return fmt::format("{}", fmt::join(record.words, " "));
  }

  void learn(std::span<const ParserRecord> records) override {
    WordCounts words;
    WordCounts labels;
    std::array<WordCounts, kAffixes> affixes;
    for (const ParserRecord& record : records) {
      for (const std::string& word : record.words) {
        count_word(words, lower_case(word));
        const std::array<std::string, kAffixes> of_word = affixes_of(word);
        for (std::size_t i = 0; i < kAffixes; ++i) count_word(affixes[i], of_word[i]);
      }
      for (const std::string& label : record.labels) count_word(labels, label);
    }
    words_ = Words(words, min_count_);
    for (std::size_t i = 0; i < kAffixes; ++i) affixes_[i] = Words(affixes[i], min_count_);
    labels_ = Words(labels);
    lifted_ = 0;
    records_learned_ = std::ssize(records);
    for (const ParserRecord& record : records) lifted_ += is_projective(tree_of(record)) ? 0 : 1;
  }
  void make_network(Model& model) override {
    ParserCounts counts{.words = words_.size() + kSpecial, .affixes = {}, .labels = labels_.size()};
    for (const Words& each : affixes_) counts.affixes.push_back(each.size() + kSpecial);
    net_.emplace(model, settings_, counts);
  }

  /// The heads of words 1 to n, n + 1 for the root. Refuses (DataError) what is no tree with one root.
  static std::vector<std::int32_t> tree_of(const ParserRecord& record) {
    const auto root = static_cast<std::int32_t>(record.words.size()) + 1;
    const auto refuse = [&](std::string_view why) {
      throw DataError(fmt::format("parser: {}, in \"{}\"", why, fmt::join(record.words, " ")));
    };
    if (record.heads.size() != record.words.size()) refuse("the heads of all words are expected");
    std::vector<std::int32_t> heads{0};
    for (const std::int32_t head : record.heads) {
      if (head < 0 || head >= root) refuse("a word has no head");
      heads.push_back(head == 0 ? root : head);
    }
    if (std::count(heads.begin(), heads.end(), root) != 1) refuse("one root is expected");
    for (std::int32_t word = 1; word < root; ++word) {
      std::int32_t above = word;
      for (std::int32_t steps = 0; above != root; ++steps) {
        if (steps == root) refuse(fmt::format("word {} is among its own descendants", word));
        above = heads[static_cast<std::size_t>(above)];
      }
    }
    return heads;
  }

  ParserSentence encode(const ParserRecord& record, bool labelled) const override {
    ParserSentence sentence;
    const std::int32_t before = words_.size();
    sentence.words = {before};
    for (const std::string& word : record.words) sentence.words.push_back(words_.number(lower_case(word)));
    sentence.words.push_back(before + 1);
    sentence.affixes.resize(kAffixes);
    for (std::size_t i = 0; i < kAffixes; ++i) sentence.affixes[i] = {affixes_[i].size()};
    for (const std::string& word : record.words) {
      const std::array<std::string, kAffixes> affixes = affixes_of(word);
      for (std::size_t i = 0; i < kAffixes; ++i) sentence.affixes[i].push_back(affixes_[i].number(affixes[i]));
    }
    for (std::size_t i = 0; i < kAffixes; ++i) sentence.affixes[i].push_back(affixes_[i].size() + 1);
    if (!labelled) return sentence;
    sentence.heads = tree_of(record);
    sentence.projective = made_projective(sentence.heads);
    sentence.labels = {0};
    for (const std::string& label : record.labels) sentence.labels.push_back(labels_.number(label));
    return sentence;
  }
  std::int64_t nodes_of(const ParserSentence& sentence) const override { return sentence.word_count(); }

  /// A parse as a leaf: heads, then labels.
  static Expr as_leaf(Graph& graph, const Parse& parse) {
    std::vector<float> numbers(parse.heads.begin() + 1, parse.heads.end());
    numbers.insert(numbers.end(), parse.labels.begin() + 1, parse.labels.end());
    return graph.input({static_cast<std::int64_t>(numbers.size())}, numbers);
  }
  /// In place of a parse, where nothing is parsed.
  static Expr no_parse(Graph& graph) { return graph.constant({1}, 0); }

  espalier::Task<train::Recorded> record_one(Graph& graph, const ParserSentence& sentence, bool training) const {
    train::Recorded recorded;
    if (training) {
      recorded.loss = co_await net_->explored_loss(graph, sentence);
      recorded.outputs.push_back(no_parse(graph));
    } else {
      recorded.loss = net_->loss(graph, sentence);
      const Parse parse = co_await net_->parse(graph, sentence);
      recorded.outputs.push_back(as_leaf(graph, parse));
    }
    co_return recorded;
  }
  Expr output_of(Graph& graph, const ParserSentence& sentence) const override {
    return outputs_of(graph, {&sentence, 1}).front();
  }
  std::vector<Expr> outputs_of(Graph& graph, std::span<const ParserSentence> sentences) const override {
    const auto parse = [&](Graph& of, const ParserSentence& sentence) { return net_->parse(of, sentence); };
    std::vector<Expr> outputs;
    for (const Parse& each : run_batched(graph, sentences, parse, {.in_flight = kInFlight}))
      outputs.push_back(as_leaf(graph, each));
    return outputs;
  }
  Expr loss_of(Graph& graph, const ParserSentence& sentence, Expr& output) const override {
    output = graph.options().training ? no_parse(graph) : output_of(graph, sentence);
    return net_->loss(graph, sentence);
  }
  void read_output(const ParserSentence& sentence, const Tensor& output, train::Prediction& prediction) const override {
    const auto count = static_cast<std::size_t>(sentence.word_count());
    if (output.elements() != 2 * sentence.word_count()) return;
    const auto label_of = [&](std::size_t word) {
      const std::int32_t label = sentence.labels[word];
      return label == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(label);  // never right
    };
    for (std::size_t w = 1; w <= count; ++w) prediction.expected.push_back(sentence.heads[w]);
    for (std::size_t w = 1; w <= count; ++w) prediction.expected.push_back(label_of(w));
    for (std::int64_t i = 0; i < output.elements(); ++i) prediction.predicted.push_back(output.at(i));
  }
  /// {"words": [...], "heads": [...], "labels": [...]}, with 0 for the head of the root.
  Value answer(const ParserRecord& record, const ParserSentence&, const Tensor& output) const override {
    const auto count = static_cast<std::int64_t>(record.words.size());
    const std::vector<std::string> names = labels_.list();
    std::vector<Value> words;
    std::vector<Value> heads;
    std::vector<Value> labels;
    for (std::int64_t w = 0; w < count; ++w) {
      const auto head = static_cast<std::int64_t>(output.at(w));
      const auto label = static_cast<std::size_t>(output.at(count + w));
      words.emplace_back(record.words[static_cast<std::size_t>(w)]);
      heads.emplace_back(head > count ? 0 : head);
      labels.emplace_back(label == 0 ? std::string("_") : names[label - 1]);
    }
    return Value::map({{"words", Value::list(std::move(words))},
                       {"heads", Value::list(std::move(heads))},
                       {"labels", Value::list(std::move(labels))}});
  }

  std::string shown(const std::string& label) const { return subtypes_ ? label : label.substr(0, label.find(':')); }

  ParserSettings settings_;
  std::int32_t min_count_ = 2;
  bool subtypes_ = true;
  Words words_;
  std::array<Words, kAffixes> affixes_;
  Words labels_;
  std::int64_t records_learned_ = 0;
  std::int64_t lifted_ = 0;  // of these, not projective
  std::optional<ParserNet> net_;
};

}  // namespace

std::unique_ptr<StandardModel> make_parser() { return std::make_unique<Parser>(); }

}  // namespace espalier::models
