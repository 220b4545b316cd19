#include "espalier/models/tagger_net.h"

#include <algorithm>
#include <cstddef>

#include "espalier/base/error.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

/// Refuses settings outside their ranges.
TaggerSettings checked(TaggerSettings settings) {
  const SettingList list = settings_of(settings);
  list.assign(list.to_value());
  return settings;
}

std::int32_t spelled_size(const TaggerSettings& settings) {
  return 2 * (settings.characters == "rare" ? settings.embedding / 2 : settings.character_hidden);
}
std::int32_t input_size(const TaggerSettings& settings) {
  return settings.embedding + (settings.characters == "all" ? spelled_size(settings) : 0);
}

constexpr KindId kForwards{0};
constexpr KindId kBackwards{1};

}  // namespace

void TaggerSettings::list(SettingList& list) {
  list.add("embedding", embedding, "size of word vectors", 1, 4096);
  list.add("hidden", hidden, "size of the LSTM's state, in each direction", 1, 4096);
  list.add("middle", middle, "size of a layer between state and scores; 0: none", 0, 4096);
  list.add("characters", characters, "words that are spelled by a BiLSTM over their characters",
           {"all", "rare", "none"});
  list.add("character_embedding", character_embedding, "size of character vectors", 1, 4096);
  list.add("character_hidden", character_hidden, "size of the spelling LSTM's state, in each direction", 1, 4096);
  list.add("crf", crf, "score sequences of tags by a CRF");
  list.add("dropout", dropout, "dropout of inputs and states of the LSTM", 0, 0.99);
  list.add("freeze_words", freeze_words, "keep word vectors as they are");
}

TaggerNet::TaggerNet(Model& model, const TaggerSettings& settings, const TaggerCounts& counts,
                     const std::optional<Tensor>& vectors, Form form)
    : settings_(checked(settings)),
      form_(form),
      words_(model / "words", counts.words, settings.embedding,
             {.pretrained = vectors, .frozen = settings.freeze_words}),
      lstm_(model / "lstm", input_size(settings), settings.hidden),
      classify_(model / "classify", settings.middle > 0 ? settings.middle : 2 * settings.hidden, counts.tags) {
  if (settings.characters == "rare" && settings.embedding % 2 != 0)
    throw UsageError(
        "tagger: rare words are spelled by two states that together have the size of a word vector, so "
        "that size must be even");
  if (settings.characters != "none") {
    characters_.emplace(model / "characters", counts.characters, settings.character_embedding);
    const std::int32_t size = spelled_size(settings) / 2;
    spell_.emplace(model / "spell", settings.character_embedding, size);
    spell_rows_.emplace("spell", std::vector{spell_->forward().kind("forward"), spell_->backward().kind("backward")},
                        std::vector<Shape>{{size}, {size}});
  }
  if (settings.middle > 0) middle_.emplace(model / "middle", 2 * settings.hidden, settings.middle);
  if (settings.crf) crf_.emplace(model / "crf", counts.tags);
}

Expr TaggerNet::tanh_of_middle(const Expr& state) const { return middle_ ? tanh((*middle_)(state)) : state; }
Expr TaggerNet::score(const Expr& state) const {
  const Expr dropped = dropout(state, settings_.dropout);
  return middle_ ? score_(dropped) : classify_(dropped);
}

Expr TaggerNet::scores(Graph& graph, const TaggedSentence& sentence) const {
  if (sentence.words.empty()) throw UsageError("tagger: a sentence has no words");
  if (form_ == Form::kRows) return score(lstm_.rows(dropout(inputs_as_rows(graph, sentence), settings_.dropout)));
  std::vector<Expr> x = inputs_by_node(graph, sentence);
  for (Expr& each : x) each = dropout(each, settings_.dropout);
  return score(rows(lstm_(x)));
}

Expr TaggerNet::inputs_as_rows(Graph& graph, const TaggedSentence& sentence) const {
  const Expr words = words_.rows(graph, sentence.words);
  if (settings_.characters == "none") return words;
  const std::vector<Expr> spelled = spelled_as_rows(graph, sentence);
  if (settings_.characters == "all") return concat({words, join_rows(rows(spelled), 2)}, 0);
  std::vector<Expr> x;
  std::size_t next = 0;
  for (std::size_t w = 0; w < sentence.words.size(); ++w) {
    if (sentence.characters[w].empty()) {
      x.push_back(row(words, static_cast<std::int32_t>(w)));
    } else {
      x.push_back(concat({spelled[next], spelled[next + 1]}, 0));
      next += 2;
    }
  }
  return rows(x);
}

/// The last state forwards and the last backwards of each word that has characters. Both directions of all words are
/// one recursion.
std::vector<Expr> TaggerNet::spelled_as_rows(Graph& graph, const TaggedSentence& sentence) const {
  thread_local Structure structure;  // reuses its memory
  thread_local std::vector<std::int32_t> letters;
  structure.clear();
  letters.clear();
  std::vector<std::int32_t> last;
  for (const std::vector<std::int32_t>& word : sentence.characters) {
    if (word.empty()) continue;
    const auto begin = static_cast<std::int32_t>(letters.size());
    const auto end = begin + static_cast<std::int32_t>(word.size());
    letters.insert(letters.end(), word.begin(), word.end());
    std::int32_t state = Structure::kMissing;
    for (std::int32_t c = begin; c < end; ++c) state = structure.add(kForwards, c, {state});
    last.push_back(state);
    state = Structure::kMissing;
    for (std::int32_t c = end - 1; c >= begin; --c) state = structure.add(kBackwards, c, {state});
    last.push_back(state);
  }
  std::vector<Expr> spelled;
  if (last.empty()) return spelled;
  const Expr h = (*spell_rows_)(characters_->rows(graph, letters), structure)[0];
  for (const std::int32_t state : last) spelled.push_back(row(h, state));
  return spelled;
}

std::vector<Expr> TaggerNet::inputs_by_node(Graph& graph, const TaggedSentence& sentence) const {
  std::vector<Expr> x;
  for (std::size_t w = 0; w < sentence.words.size(); ++w) {
    const bool has_letters = settings_.characters != "none" && !sentence.characters[w].empty();
    if (!has_letters)
      x.push_back(words_(graph, sentence.words[w]));
    else if (settings_.characters == "rare")
      x.push_back(spelled(graph, sentence.characters[w]));
    else
      x.push_back(concat({words_(graph, sentence.words[w]), spelled(graph, sentence.characters[w])}, 0));
  }
  return x;
}

Expr TaggerNet::spelled(Graph& graph, std::span<const std::int32_t> characters) const {
  std::vector<Expr> x;
  for (const std::int32_t character : characters) x.push_back((*characters_)(graph, character));
  nn::LstmState forward = spell_->forward().initial(graph);
  nn::LstmState backward = spell_->backward().initial(graph);
  for (std::size_t i = 0; i < x.size(); ++i) {
    forward = spell_->forward()(x[i], forward);
    backward = spell_->backward()(x[x.size() - 1 - i], backward);
  }
  return concat({forward.h, backward.h});
}

Expr TaggerNet::loss(const Expr& scores, std::span<const std::int32_t> tags) const {
  return crf_ ? crf_->loss(scores, tags) : cross_entropy_rows(scores, tags);
}

std::vector<std::int32_t> TaggerNet::tags(const Tensor& scores) const {
  return crf_ ? crf_->best(scores) : best_of_rows(scores);
}

std::vector<std::int32_t> best_of_rows(const Tensor& x) {
  const std::int64_t columns = x.shape()[1];
  std::vector<std::int32_t> best;
  for (std::int64_t r = 0; r < x.shape()[0]; ++r) {
    std::int64_t most = 0;
    for (std::int64_t c = 1; c < columns; ++c)
      if (x.at(r * columns + c) > x.at(r * columns + most)) most = c;
    best.push_back(static_cast<std::int32_t>(most));
  }
  return best;
}

}  // namespace espalier::models
