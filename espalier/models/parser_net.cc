#include "espalier/models/parser_net.h"

#include <algorithm>
#include <limits>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

ParserSettings checked_settings(ParserSettings settings) {
  const SettingList list = settings_of(settings);
  list.assign(list.to_value());
  return settings;
}

/// A number in [0, 1) that depends on the graph's seed and step and on the place in the instance.
double draw(Graph& graph) {
  const auto words = ops::DropoutFields::at(graph.options().seed, graph.step(), graph.next_random_place()).words(0);
  return uniform_double(words[0], words[1]);
}

constexpr std::int32_t kUnknownLabel = 0;

}  // namespace

void ParserSettings::list(SettingList& list) {
  list.add("embedding", embedding, "size of word vectors", 1, 4096);
  list.add("affix_embedding", affix_embedding, "size of the vectors of affixes and shapes", 1, 4096);
  list.add("hidden", hidden, "size of the LSTM's state, in each direction", 1, 4096);
  list.add("layers", layers, "BiLSTMs, one above the other", 1, 8);
  list.add("middle", middle, "size of the layer between states and scores", 1, 4096);
  list.add("dropout", dropout, "dropout of the inputs of all layers", 0, 0.99);
  list.add("oracle", oracle, "the moves to learn from: of the right parse, or also of wrong ones",
           {"static", "dynamic"});
  list.add("explore", explore, "with the dynamic oracle: how often a wrong move that scores best is made", 0, 1);
}

ParserNet::ParserNet(Model& model, const ParserSettings& settings, const ParserCounts& counts)
    : settings_(checked_settings(settings)),
      labels_(counts.labels),
      words_(model / "words", counts.words, settings.embedding),
      middle_(model / "middle", static_cast<std::int32_t>(kFeatures) * 2 * settings.hidden, settings.middle),
      moves_(model / "moves", settings.middle, 1 + 2 * counts.labels) {
  const Scope affixes = model / "affixes";
  for (std::size_t i = 0; i < counts.affixes.size(); ++i)
    affixes_.emplace_back(affixes / std::to_string(i), counts.affixes[i], settings.affix_embedding);
  const Scope layers = model / "lstm";
  std::int32_t input = settings.embedding + static_cast<std::int32_t>(counts.affixes.size()) * settings.affix_embedding;
  for (std::int32_t layer = 0; layer < settings.layers; ++layer) {
    layers_.emplace_back(layers / std::to_string(layer), input, settings.hidden);
    input = 2 * settings.hidden;
  }
}

Expr ParserNet::tanh_of_middle(const Expr& x) const { return tanh(middle_(x)); }

Expr ParserNet::states(Graph& graph, const ParserSentence& sentence) const {
  std::vector<Expr> parts{words_.rows(graph, sentence.words)};
  for (std::size_t i = 0; i < affixes_.size(); ++i) parts.push_back(affixes_[i].rows(graph, sentence.affixes[i]));
  Expr x = concat(parts, 0);
  for (const nn::BiLstm& layer : layers_) x = layer.rows(dropout(x, settings_.dropout));
  return dropout(x, settings_.dropout);
}

ParserNet::Features ParserNet::features(const ArcHybrid& state) {
  return {state.top(2), state.top(1), state.top(0), state.front()};
}

Expr ParserNet::scores(const Expr& states, const ArcHybrid& state) const {
  ExprList parts;
  for (const std::int32_t token : features(state)) parts.push_back(row(states, token));
  return score_(concat({parts[0], parts[1], parts[2], parts[3]}, 0));
}

std::int32_t ParserNet::number(ArcHybrid::Move move, std::int32_t label) const {
  if (move == ArcHybrid::kShift) return 0;
  return 1 + std::max(label, kUnknownLabel) + (move == ArcHybrid::kLeft ? 0 : labels_);
}

void ParserNet::make(ArcHybrid& state, std::int32_t number) const {
  if (number == 0) return state.make(ArcHybrid::kShift);
  const bool is_left = number <= labels_;
  state.make(is_left ? ArcHybrid::kLeft : ArcHybrid::kRight, number - 1 - (is_left ? 0 : labels_));
}

/// The move with the highest score among those that are allowed and, unless the list is empty, right.
std::int32_t ParserNet::best(const Tensor& scores, const ArcHybrid& state,
                             std::span<const std::uint8_t> is_right) const {
  std::int32_t found = -1;
  const auto look = [&](std::int32_t number) {
    if (!is_right.empty() && is_right[static_cast<std::size_t>(number)] == 0) return;
    if (found < 0 || scores.at(number) > scores.at(found)) found = number;
  };
  if (state.allows(ArcHybrid::kShift)) look(0);
  for (std::int32_t label = 0; label < labels_; ++label) {
    if (state.allows(ArcHybrid::kLeft)) look(1 + label);
    if (state.allows(ArcHybrid::kRight)) look(1 + labels_ + label);
  }
  return found;
}

Task<Parse> ParserNet::parse(Graph& graph, const ParserSentence& sentence) const {
  Expr tokens = states(graph, sentence);
  ArcHybrid state(sentence.word_count());
  while (!state.is_done()) {
    co_await carry(tokens);  // all that is needed of what was recorded
    const Tensor values = co_await scores(tokens, state);
    make(state, best(values, state, {}));
  }
  co_return Parse{{state.heads().begin(), state.heads().end()}, {state.labels().begin(), state.labels().end()}};
}

Expr ParserNet::loss(Graph& graph, const ParserSentence& sentence) const {
  const Expr tokens = states(graph, sentence);
  std::vector<Expr> views;
  views.reserve(static_cast<std::size_t>(tokens.row_count()));
  for (std::int32_t t = 0; t < tokens.row_count(); ++t) views.push_back(row(tokens, t));
  std::array<std::vector<Expr>, kFeatures> columns;
  std::vector<std::int32_t> targets;
  for (ArcHybrid state(sentence.word_count()); !state.is_done();) {
    const ArcHybrid::Move move = oracle_move(state, sentence.projective);
    const Features of = features(state);
    for (std::size_t k = 0; k < kFeatures; ++k) columns[k].push_back(views[static_cast<std::size_t>(of[k])]);
    targets.push_back(number(move, sentence.labels[static_cast<std::size_t>(state.dependent(move))]));
    make(state, targets.back());
  }
  return cross_entropy_rows(score_(concat({rows(columns[0]), rows(columns[1]), rows(columns[2]), rows(columns[3])}, 0)),
                            targets);
}

/// By the numbers of moves: those that lose no arc which can still be made; where all lose some, those that lose least.
std::vector<std::uint8_t> ParserNet::right_moves(const ArcHybrid& state, const ParserSentence& sentence) const {
  std::array<std::int32_t, ArcHybrid::kMoves> costs{};
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (const ArcHybrid::Move move : {ArcHybrid::kShift, ArcHybrid::kLeft, ArcHybrid::kRight}) {
    if (!state.allows(move)) continue;
    costs[static_cast<std::size_t>(move)] = state.cost(move, sentence.projective);
    least = std::min(least, costs[static_cast<std::size_t>(move)]);
  }
  std::vector<std::uint8_t> is_right(static_cast<std::size_t>(1 + 2 * labels_), 0);
  for (const ArcHybrid::Move move : {ArcHybrid::kShift, ArcHybrid::kLeft, ArcHybrid::kRight}) {
    if (!state.allows(move) || costs[static_cast<std::size_t>(move)] > least) continue;
    if (move == ArcHybrid::kShift) {
      is_right[0] = 1;
      continue;
    }
    const auto word = static_cast<std::size_t>(state.dependent(move));
    const bool is_arc = sentence.projective[word] == state.head(move);
    for (std::int32_t label = 0; label < labels_; ++label)
      is_right[static_cast<std::size_t>(number(move, label))] =
          !is_arc || label == std::max(sentence.labels[word], kUnknownLabel) ? 1 : 0;
  }
  return is_right;
}

Task<Expr> ParserNet::explored_loss(Graph& graph, const ParserSentence& sentence) const {
  const Expr tokens = states(graph, sentence);
  std::vector<Expr> losses;
  ArcHybrid state(sentence.word_count());
  while (!state.is_done()) {
    const Expr recorded = scores(tokens, state);
    const Tensor values = co_await recorded;
    const std::int32_t right = best(values, state, right_moves(state, sentence));
    const std::int32_t preferred = best(values, state, {});
    losses.push_back(cross_entropy(recorded, right));
    make(state, draw(graph) < settings_.explore ? preferred : right);
  }
  co_return sum(losses);
}

}  // namespace espalier::models
