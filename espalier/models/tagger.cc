/// The model "tagger" (models/tagger_net.h) over tagged sentences: parts of speech, named entities.
#include <fmt/format.h>

#include <optional>

#include "espalier/data/conll.h"
#include "espalier/data/utf8.h"
#include "espalier/models/model_of.h"
#include "espalier/models/registry.h"
#include "espalier/models/tag_records.h"
#include "espalier/models/tagger_net.h"
#include "espalier/models/vectors.h"
#include "espalier/models/words.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

class Tagger final : public ModelOf<data::TaggedSentence, TaggedSentence> {
 public:
  std::string_view name() const override { return "tagger"; }
  train::Answers answers() const override { return train::Answers::kClasses; }
  std::vector<std::string> classes() const override { return tags_; }
  std::vector<train::Metric> measure(std::span<const train::Prediction> predictions) const override {
    return measure_tags(predictions, tags_);
  }
  std::string describe() const override {
    return fmt::format("{} words that occur at least {} times, {} characters, {} tags; {}\n", words_.size() - 1,
                       min_count_, characters_.size() - 1, tags_.size(),
                       has_spans(tags_) ? "tags mark spans" : "a tag stands for itself");
  }
  /// Known and unknown words, and such as are spelled and not.
  std::vector<Value> samples() const override {
    std::vector<Value> words{"?", "??", "a"};
    for (const Words* known : {&words_, &spelled_})
      if (const std::vector<std::string> list = known->list(); !list.empty())
        words.insert(words.end(), {list.front(), list.back()});
    std::vector<Value> records;
    records.reserve(words.size() + 1);
    for (const Value& word : words) records.push_back(Value::map({{"words", Value::list({word})}}));
    records.push_back(Value::map({{"words", Value::list(words)}}));
    return records;
  }

 private:
  void list(SettingList& list) override {
    settings_.list(list);
    list.add("min_count", min_count_, "rarer words are one unknown word", 1);
    list.add("lower_case", lower_case_, "look words up in lower case; characters stay as they are");
    list.add("rare", rare_, "with characters \"rare\": words that occur at most so often are spelled", 1);
    columns_.list(list);
    vectors_.list(list);
  }
  Value facts() const override {
    return Value::map({{"words", words_.to_value()},
                       {"characters", characters_.to_value()},
                       {"spelled", spelled_.to_value()},
                       {"tags", Words(tags_).to_value()}});
  }
  void restore(const Value& facts) override {
    words_ = Words::from_value(facts.at("words"));
    characters_ = Words::from_value(facts.at("characters"));
    spelled_ = Words::from_value(facts.at("spelled"));
    set_tags(Words::from_value(facts.at("tags")).list());
    set_weights(std::make_unique<Model>());
    vectors_.path.clear();  // the weights have them
    make_network(weights());
  }

  RecordSource<data::TaggedSentence> open(data::Input input, const data::ReadOptions& options) const override {
    return columns_.open(std::move(input), options);
  }
  data::TaggedSentence from_json(const Value& value, const std::string&) const override {
    return tagged_from_json(value);
  }
  std::string text_of(const data::TaggedSentence& record) const override {
    return fmt::format("{}", fmt::join(record.words, " "));
  }

  void learn(std::span<const data::TaggedSentence> records) override {
    WordCounts words;
    WordCounts characters;
    WordCounts tags;
    WordCounts as_written;
    for (const data::TaggedSentence& record : records) {
      for (const std::string& word : record.words) {
        count_word(words, shown(word));
        count_word(as_written, word);
        for (const std::string_view character : data::characters_of(word)) count_word(characters, character);
      }
      for (const std::string& tag : record.tags) count_word(tags, tag);
    }
    words_ = vectors_.with_words_of_file(Words(words, min_count_));
    characters_ = Words(characters);
    spelled_ = settings_.characters == "rare" ? Words(as_written, rare_ + 1) : Words();  // those that are not
    set_tags(Words(tags).list());
  }
  void set_tags(std::vector<std::string> tags) {
    tags_ = std::move(tags);
    tag_numbers_ = Words(tags_);
  }
  void make_network(Model& model) override {
    net_.emplace(
        model, settings_,
        TaggerCounts{
            .words = words_.size(), .characters = characters_.size(), .tags = static_cast<std::int32_t>(tags_.size())},
        vectors_.table(words_, settings_.embedding), form());
  }
  TaggedSentence encode(const data::TaggedSentence& record, bool labelled) const override {
    TaggedSentence sentence;
    for (std::size_t w = 0; w < record.words.size(); ++w) {
      sentence.words.push_back(words_.number(shown(record.words[w])));
      sentence.characters.emplace_back();
      if (settings_.characters == "none" || (settings_.characters == "rare" && spelled_.number(record.words[w]) > 0))
        continue;
      for (const std::string_view character : data::characters_of(record.words[w]))
        sentence.characters.back().push_back(characters_.number(character));
    }
    if (labelled)
      for (const std::string& tag : record.tags) sentence.tags.push_back(tag_numbers_.number(tag) - 1);
    return sentence;
  }
  std::int64_t nodes_of(const TaggedSentence& sentence) const override { return std::ssize(sentence.words); }

  Expr output_of(Graph& graph, const TaggedSentence& sentence) const override { return net_->scores(graph, sentence); }
  Expr loss_of(Graph& graph, const TaggedSentence& sentence, Expr& output) const override {
    output = net_->scores(graph, sentence);
    return sum({net_->loss(output, tags_for_loss(sentence.tags))});
  }
  void read_output(const TaggedSentence& sentence, const Tensor& output, train::Prediction& prediction) const override {
    read_tags(net_->tags(output), sentence.tags, prediction);
  }
  Value answer(const data::TaggedSentence& record, const TaggedSentence&, const Tensor& output) const override {
    return tag_answer(record.words, net_->tags(output), tags_);
  }

  std::string shown(const std::string& word) const { return lower_case_ ? models::lower_case(word) : word; }

  TaggerSettings settings_;
  std::int32_t min_count_ = 2;
  bool lower_case_ = true;
  std::int32_t rare_ = 5;
  TagColumns columns_;
  VectorSettings vectors_;
  Words words_;
  Words characters_;
  Words spelled_;
  std::vector<std::string> tags_;
  Words tag_numbers_;
  std::optional<TaggerNet> net_;
};

}  // namespace

std::unique_ptr<StandardModel> make_tagger() { return std::make_unique<Tagger>(); }

}  // namespace espalier::models
