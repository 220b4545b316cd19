/// The model "lattice" (models/lattice_net.h) over tagged sentences of characters and the words of a lexicon.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "espalier/data/lattice.h"
#include "espalier/models/lattice_net.h"
#include "espalier/models/model_of.h"
#include "espalier/models/registry.h"
#include "espalier/models/tag_records.h"
#include "espalier/models/words.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

class LatticeTagger final : public ModelOf<data::TaggedSentence, Lattice> {
 public:
  std::string_view name() const override { return "lattice"; }
  train::Answers answers() const override { return train::Answers::kClasses; }
  std::vector<std::string> classes() const override { return tags_; }
  std::vector<train::Metric> measure(std::span<const train::Prediction> predictions) const override {
    return measure_tags(predictions, tags_);
  }
  std::string describe() const override {
    return fmt::format(
        "{} characters that occur at least {} times, {} words of the lexicon that occur at least {} times, {} tags; "
        "{}\n",
        characters_.size() - 1, min_count_, lexicon_.size(), word_min_count_, tags_.size(),
        has_spans(tags_) ? "tags mark spans" : "a tag stands for itself");
  }
  /// Characters that are in no word, and some words of the lexicon, alone and together.
  std::vector<Value> samples() const override {
    constexpr std::int32_t kWords = 20;
    std::vector<Value> records{Value::map({{"text", "?"}}), Value::map({{"text", "???"}})};
    std::string all = "?";
    for (std::int32_t w = 0; w < std::min(kWords, lexicon_.size()); ++w) {
      records.push_back(Value::map({{"text", lexicon_.word(w)}}));
      all += lexicon_.word(w) + lexicon_.word(w);
    }
    records.push_back(Value::map({{"text", all}}));
    return records;
  }

 private:
  void list(SettingList& list) override {
    settings_.list(list);
    list.add("lexicon", lexicon_path_, "file with a word per line; its frequency and tag may follow");
    list.add("min_count", min_count_, "rarer characters are one unknown character", 1);
    list.add("word_min_count", word_min_count_, "rarer words of the lexicon are left out", 1);
    columns_.list_columns(list);
  }
  Value facts() const override {
    std::vector<Value> words;
    words.reserve(static_cast<std::size_t>(lexicon_.size()));
    for (std::int32_t w = 0; w < lexicon_.size(); ++w) words.emplace_back(lexicon_.word(w));
    return Value::map({{"characters", characters_.to_value()},
                       {"words", Value::list(std::move(words))},
                       {"tags", tag_numbers_.to_value()}});
  }
  void restore(const Value& facts) override {
    characters_ = Words::from_value(facts.at("characters"));
    set_lexicon(Words::from_value(facts.at("words")));
    set_tags(Words::from_value(facts.at("tags")));
    set_weights(std::make_unique<Model>());
    make_network(weights());
  }

  RecordSource<data::TaggedSentence> open(data::Input input, const data::ReadOptions& options) const override {
    return columns_.open(std::move(input), options);
  }
  data::TaggedSentence from_json(const Value& value, const std::string&) const override {
    return tagged_from_json(value, Tokens::kCharacters);
  }
  std::string text_of(const data::TaggedSentence& record) const override {
    return fmt::format("{}", fmt::join(record.words, ""));
  }

  /// Words of the lexicon that do not occur in training data would have no vectors: they are left out.
  void learn(std::span<const data::TaggedSentence> records) override {
    if (lexicon_path_.empty()) throw UsageError("lattice: the setting \"lexicon\" must name a file of words");
    data::LexiconReader reader(lexicon_path_);
    const data::Lexicon all(reader);
    WordCounts characters;
    WordCounts words;
    WordCounts tags;
    for (const data::TaggedSentence& record : records) {
      for (const std::string& character : record.words) count_word(characters, character);
      for (const data::LatticeWord& word : all.words_in(record.words)) count_word(words, all.word(word.word));
      for (const std::string& tag : record.tags) count_word(tags, tag);
    }
    characters_ = Words(characters, min_count_);
    set_lexicon(Words(words, word_min_count_));
    set_tags(Words(tags));
  }
  void set_lexicon(const Words& words) {
    lexicon_ = {};
    for (const std::string& word : words.list()) lexicon_.add(word);
  }
  void set_tags(Words tags) {
    tag_numbers_ = std::move(tags);
    tags_ = tag_numbers_.list();
  }
  void make_network(Model& model) override {
    net_.emplace(model, settings_,
                 LatticeCounts{.characters = characters_.size(),
                               .words = std::max(lexicon_.size(), 1),
                               .tags = static_cast<std::int32_t>(tags_.size())},
                 form());
  }
  Lattice encode(const data::TaggedSentence& record, bool labelled) const override {
    Lattice lattice;
    lattice.characters.reserve(record.words.size());
    for (const std::string& character : record.words) lattice.characters.push_back(characters_.number(character));
    const std::vector<data::LatticeWord> words = lexicon_.words_in(record.words);
    lattice.words.reserve(words.size());
    for (const data::LatticeWord& word : words)
      lattice.words.push_back({.begin = word.begin, .end = word.end, .word = word.word});
    if (labelled)
      for (const std::string& tag : record.tags) lattice.labels.push_back(tag_numbers_.number(tag) - 1);
    return lattice;
  }
  std::int64_t nodes_of(const Lattice& lattice) const override {
    return std::ssize(lattice.characters) + std::ssize(lattice.words);
  }

  Expr output_of(Graph& graph, const Lattice& lattice) const override { return net_->scores(graph, lattice); }
  Expr loss_of(Graph& graph, const Lattice& lattice, Expr& output) const override {
    output = net_->scores(graph, lattice);
    return sum({net_->loss(output, tags_for_loss(lattice.labels))});
  }
  void read_output(const Lattice& lattice, const Tensor& output, train::Prediction& prediction) const override {
    read_tags(net_->tags(output), lattice.labels, prediction);
  }
  Value answer(const data::TaggedSentence& record, const Lattice&, const Tensor& output) const override {
    return tag_answer(record.words, net_->tags(output), tags_, Tokens::kCharacters);
  }

  LatticeSettings settings_;
  std::string lexicon_path_;
  std::int32_t min_count_ = 1;
  std::int32_t word_min_count_ = 1;
  TagColumns columns_{.format = "columns"};
  Words characters_;
  data::Lexicon lexicon_;  // the words that have vectors, by number
  std::vector<std::string> tags_;
  Words tag_numbers_;
  std::optional<LatticeNet> net_;
};

}  // namespace

std::unique_ptr<StandardModel> make_lattice() { return std::make_unique<LatticeTagger>(); }

}  // namespace espalier::models
