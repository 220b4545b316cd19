#include "espalier/models/lattice_net.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/models/lattice_encoders.h"
#include "espalier/models/tagger_net.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

LatticeSettings checked_lattice(LatticeSettings settings) {
  const SettingList list = settings_of(settings);
  list.assign(list.to_value());
  return settings;
}

/// The rows of x from the last to the first.
Expr rows_from_end(const Expr& x) {
  std::vector<Expr> all;
  for (std::int32_t r = x.row_count() - 1; r >= 0; --r) all.push_back(row(x, r));
  return rows(all);
}

std::vector<std::int32_t> numbers_of_words(const Lattice& lattice) {
  std::vector<std::int32_t> numbers;
  for (const Lattice::Word& word : lattice.words) numbers.push_back(word.word);
  return numbers;
}

}  // namespace

void LatticeSettings::list(SettingList& list) {
  list.add("merge", merge, "how words join the state after a character", {"gates", "sum"});
  list.add("embedding", embedding, "size of the vectors of characters and words", 1, 4096);
  list.add("hidden", hidden, "size of the state, in each direction", 1, 4096);
  list.add("bidirectional", bidirectional, "read the lattice from its end too");
  list.add("crf", crf, "score sequences of tags by a CRF");
  list.add("dropout", dropout, "dropout of characters, words and states", 0, 0.99);
}

LatticeNet::LatticeNet(Model& model, const LatticeSettings& settings, const LatticeCounts& counts, Form form)
    : settings_(checked_lattice(settings)),
      form_(form),
      characters_(model / "characters", counts.characters, settings.embedding),
      words_(model / "words", counts.words, settings.embedding),
      forward_(make_lattice_encoder(model, "", settings_)),
      backward_(settings.bidirectional ? make_lattice_encoder(model, "backward_", settings_) : nullptr),
      label_(model / "label", settings.hidden * (settings.bidirectional ? 2 : 1), counts.tags) {
  if (settings.crf) crf_.emplace(model / "crf", counts.tags);
}
LatticeNet::~LatticeNet() = default;

Expr LatticeNet::scores(Graph& graph, const Lattice& lattice) const {
  if (lattice.characters.empty()) throw UsageError("lattice: a sentence has no characters");
  const Expr states = form_ == Form::kRows ? states_as_rows(graph, lattice) : states_by_node(graph, lattice);
  return label_(dropout(states, settings_.dropout));
}

Expr LatticeNet::states_as_rows(Graph& graph, const Lattice& lattice) const {
  const Expr characters = dropout(characters_.rows(graph, lattice.characters), settings_.dropout);
  std::optional<Expr> words;
  if (!lattice.words.empty()) words = dropout(words_.rows(graph, numbers_of_words(lattice)), settings_.dropout);
  const Expr forward = forward_->rows(lattice, characters, words);
  if (backward_ == nullptr) return forward;
  std::vector<std::int32_t> order;
  const Lattice from_end = reversed(lattice, order);
  std::optional<Expr> words_from_end;
  if (words) {
    std::vector<Expr> sorted;
    sorted.reserve(order.size());
    for (const std::int32_t word : order) sorted.push_back(row(*words, word));
    words_from_end = rows(sorted);
  }
  const Expr backward = backward_->rows(from_end, rows_from_end(characters), words_from_end);
  return concat({forward, rows_from_end(backward)}, 0);
}

Expr LatticeNet::states_by_node(Graph& graph, const Lattice& lattice) const {
  std::vector<Expr> characters;
  std::vector<Expr> words;
  for (const std::int32_t character : lattice.characters)
    characters.push_back(dropout(characters_(graph, character), settings_.dropout));
  for (const Lattice::Word& word : lattice.words) words.push_back(dropout(words_(graph, word.word), settings_.dropout));
  std::vector<Expr> states = forward_->nodes(graph, lattice, characters, words);
  if (backward_ != nullptr) {
    std::vector<std::int32_t> order;
    const Lattice from_end = reversed(lattice, order);
    std::vector<Expr> sorted;
    sorted.reserve(order.size());
    for (const std::int32_t word : order) sorted.push_back(words[static_cast<std::size_t>(word)]);
    std::reverse(characters.begin(), characters.end());
    const std::vector<Expr> backward = backward_->nodes(graph, from_end, characters, sorted);
    for (std::size_t t = 0; t < states.size(); ++t) states[t] = concat({states[t], backward[states.size() - 1 - t]}, 0);
  }
  return rows(states);
}

Expr LatticeNet::loss(const Expr& scores, std::span<const std::int32_t> tags) const {
  return crf_ ? crf_->loss(scores, tags) : cross_entropy_rows(scores, tags);
}

std::vector<std::int32_t> LatticeNet::tags(const Tensor& scores) const {
  return crf_ ? crf_->best(scores) : best_of_rows(scores);
}

Lattice reversed(const Lattice& lattice, std::vector<std::int32_t>& order) {
  const auto length = static_cast<std::int32_t>(lattice.characters.size());
  order.resize(lattice.words.size());
  std::iota(order.begin(), order.end(), 0);
  const auto begin_of = [&](std::int32_t word) { return lattice.words[static_cast<std::size_t>(word)].begin; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return begin_of(a) > begin_of(b); });
  Lattice result;
  result.characters.assign(lattice.characters.rbegin(), lattice.characters.rend());
  result.labels.assign(lattice.labels.rbegin(), lattice.labels.rend());
  for (const std::int32_t number : order) {
    const Lattice::Word& word = lattice.words[static_cast<std::size_t>(number)];
    result.words.push_back({.begin = length - word.end, .end = length - word.begin, .word = word.word});
  }
  return result;
}

}  // namespace espalier::models
