#include "espalier/models/lattice_encoders.h"

#include <array>
#include <cstddef>
#include <utility>

#include "espalier/cells/cell.h"
#include "espalier/cells/recursion.h"
#include "espalier/nn/init.h"
#include "espalier/nn/lstm.h"
#include "espalier/ops/all.h"

namespace espalier::models {
namespace {

using Inputs = std::span<const Expr>;
using State = std::pair<Expr, Expr>;  // h and c

/// The vectors of a lattice as rows: characters, then words.
Expr rows_of(const Expr& characters, const std::optional<Expr>& words) {
  return words ? rows({characters, *words}) : characters;
}

/// The states after the characters, which are these rows of h.
Expr rows_after(const Expr& h, std::span<const std::int32_t> numbers) {
  std::vector<Expr> after;
  for (const std::int32_t number : numbers) after.push_back(row(h, number));
  return rows(after);
}

State add_states(Inputs in) { return {in[0] + in[2], in[1] + in[3]}; }

/// The sum over all arcs that end at a character.
class SumEncoder : public LatticeEncoder {
 public:
  SumEncoder(const Scope& character, const Scope& word, const LatticeSettings& settings)
      : character_(character, settings.embedding, settings.hidden),
        word_(word, settings.embedding, settings.hidden),
        recursion_("lattice", {character_.kind("character"), word_.kind("word"), {"sum", 2, add_states, TakesX::kNo}},
                   {{settings.hidden}, {settings.hidden}}) {}

  Expr rows(const Lattice& lattice, const Expr& characters, const std::optional<Expr>& words) const override {
    thread_local Structure structure;  // reuses its memory
    structure.clear();
    std::vector<std::int32_t> states{Structure::kMissing};  // before the first character, and after each
    const auto count = static_cast<std::int32_t>(lattice.characters.size());
    std::int32_t w = 0;
    for (std::int32_t c = 0; c < count; ++c) {
      std::int32_t state = structure.add(kCharacter, c, {states.back()});
      for (; w < std::ssize(lattice.words) && lattice.words[static_cast<std::size_t>(w)].end == c + 1; ++w) {
        const auto begin = static_cast<std::size_t>(lattice.words[static_cast<std::size_t>(w)].begin);
        const std::int32_t arc = structure.add(kWord, count + w, {states[begin]});
        state = structure.add(kSum, Structure::kNoX, {state, arc});
      }
      states.push_back(state);
    }
    return rows_after(recursion_(rows_of(characters, words), structure)[0], std::span(states).subspan(1));
  }

  std::vector<Expr> nodes(Graph& graph, const Lattice& lattice, Inputs characters, Inputs words) const override {
    std::vector<nn::LstmState> states{character_.initial(graph)};
    std::vector<Expr> h;
    std::vector<Expr> c;
    std::size_t w = 0;
    for (const Expr& character : characters) {
      const auto end = static_cast<std::int32_t>(states.size());
      nn::LstmState state = character_(character, states.back());
      h.assign(1, state.h);
      c.assign(1, state.c);
      for (; w < lattice.words.size() && lattice.words[w].end == end; ++w) {
        const nn::LstmState arc = word_(words[w], states[static_cast<std::size_t>(lattice.words[w].begin)]);
        h.push_back(arc.h);
        c.push_back(arc.c);
      }
      if (h.size() > 1) state = {sum(h), sum(c)};
      states.push_back(state);
    }
    std::vector<Expr> after;
    for (std::size_t t = 1; t < states.size(); ++t) after.push_back(states[t].h);
    return after;
  }

 private:
  static constexpr KindId kCharacter{0};
  static constexpr KindId kWord{1};
  static constexpr KindId kSum{2};

  nn::LstmCell character_;
  nn::LstmCell word_;
  Recursion recursion_;
};

/// The gates of Zhang and Yang. Rows of the recursion have two parts: (h, c) after a character, (0, c_w) after a word,
/// (e^g c_w, e^g) of its gate, and sums of the latter.
class GateEncoder : public LatticeEncoder {
 public:
  GateEncoder(const Scope& character, const Scope& word, const Scope& gate, const LatticeSettings& settings)
      : size_(settings.hidden),
        character_(character, settings.embedding, size_),
        word_(word, settings.embedding, size_),
        gate_x_(&gate.add("W", {settings.embedding, size_}, init::glorot())),
        gate_c_(&gate.add("U", {size_, size_}, init::glorot())),
        gate_b_(&gate.add("b", {size_}, init::zeros())),
        recursion_("lattice",
                   {{"character", 1, [this](Inputs in) { return alone(in[0], in[1], in[2]); }},
                    {"merged", 2, [this](Inputs in) { return merged(in[0], in[1], in[3], in[4]); }},
                    {"word", 1, [this](Inputs in) { return word_state(in[0], in[1], in[2]); }},
                    {"gate", 1, [this](Inputs in) { return gate_state(in[0], in[2]); }},
                    {"sum", 2, add_states, TakesX::kNo}},
                   {{size_}, {size_}}) {}

  Expr rows(const Lattice& lattice, const Expr& characters, const std::optional<Expr>& words) const override {
    thread_local Structure structure;  // reuses its memory
    structure.clear();
    std::vector<std::int32_t> states{Structure::kMissing};
    const auto count = static_cast<std::int32_t>(lattice.characters.size());
    std::int32_t w = 0;
    for (std::int32_t c = 0; c < count; ++c) {
      std::int32_t total = Structure::kMissing;
      for (; w < std::ssize(lattice.words) && lattice.words[static_cast<std::size_t>(w)].end == c + 1; ++w) {
        const auto begin = static_cast<std::size_t>(lattice.words[static_cast<std::size_t>(w)].begin);
        const std::int32_t word = structure.add(kWord, count + w, {states[begin]});
        const std::int32_t gate = structure.add(kGate, c, {word});
        total = total == Structure::kMissing ? gate : structure.add(kSum, Structure::kNoX, {total, gate});
      }
      states.push_back(total == Structure::kMissing ? structure.add(kCharacter, c, {states.back()})
                                                    : structure.add(kMerged, c, {states.back(), total}));
    }
    return rows_after(recursion_(rows_of(characters, words), structure)[0], std::span(states).subspan(1));
  }

  std::vector<Expr> nodes(Graph& graph, const Lattice& lattice, Inputs characters, Inputs words) const override {
    const Expr zero = graph.constant({size_}, 0);
    std::vector<State> states{{zero, zero}};
    std::size_t w = 0;
    for (const Expr& x : characters) {
      const auto end = static_cast<std::int32_t>(states.size());
      std::optional<State> total;
      for (; w < lattice.words.size() && lattice.words[w].end == end; ++w) {
        const auto& [h, c] = states[static_cast<std::size_t>(lattice.words[w].begin)];
        const State one = gate_state(x, word_state(words[w], h, c).second);
        total = total ? State(total->first + one.first, total->second + one.second) : one;
      }
      const auto [h, c] = states.back();
      states.push_back(total ? merged(x, h, total->first, total->second) : alone(x, h, c));
    }
    std::vector<Expr> after;
    for (std::size_t t = 1; t < states.size(); ++t) after.push_back(states[t].first);
    return after;
  }

 private:
  static constexpr KindId kCharacter{0};
  static constexpr KindId kMerged{1};
  static constexpr KindId kWord{2};
  static constexpr KindId kGate{3};
  static constexpr KindId kSum{4};

  /// Three gates side by side from a vector and a state.
  struct Gates {
    Gates(const Scope& scope, std::int32_t input, std::int32_t hidden)
        : w(&scope.add("W", {input, 3 * hidden}, init::glorot())),
          u(&scope.add("U", {hidden, 3 * hidden}, init::glorot())),
          b(&scope.add("b", {3 * hidden}, init::zeros())) {}
    Expr operator()(const Expr& x, const Expr& h) const { return add(affine(x, w, b), linear(h, u)); }

    const Parameter* w;
    const Parameter* u;
    const Parameter* b;
  };

  Expr part(const Expr& gates, std::int32_t k) const { return slice(gates, k * size_, (k + 1) * size_); }

  State alone(const Expr& x, const Expr& h, const Expr& c) const {
    const Expr gates = character_(x, h);
    const Expr i = sigmoid(part(gates, 0));
    return output(gates, one_minus(i) * c + i * tanh(part(gates, 2)));
  }
  State merged(const Expr& x, const Expr& h, const Expr& weighted, const Expr& weights) const {
    const Expr gates = character_(x, h);
    const Expr i = exp(sigmoid(part(gates, 0)));
    return output(gates, (i * tanh(part(gates, 2)) + weighted) / (i + weights));
  }
  State output(const Expr& gates, const Expr& c) const { return {sigmoid(part(gates, 1)) * tanh(c), c}; }
  State word_state(const Expr& x, const Expr& h, const Expr& c) const {
    const Expr gates = word_(x, h);
    const Expr c_w = sigmoid(part(gates, 1)) * c + sigmoid(part(gates, 0)) * tanh(part(gates, 2));
    return {negate(c_w), c_w};  // nobody reads the first part
  }
  State gate_state(const Expr& x, const Expr& c_w) const {
    const Expr g = exp(sigmoid(add(affine(x, gate_x_, gate_b_), linear(c_w, gate_c_))));
    return {g * c_w, g};
  }

  std::int32_t size_;
  Gates character_;
  Gates word_;
  const Parameter* gate_x_;
  const Parameter* gate_c_;
  const Parameter* gate_b_;
  Recursion recursion_;
};

}  // namespace

std::unique_ptr<const LatticeEncoder> make_lattice_encoder(Model& model, const std::string& prefix,
                                                           const LatticeSettings& settings) {
  if (settings.merge == "sum")
    return std::make_unique<SumEncoder>(model / (prefix + "character_arc"), model / (prefix + "word_arc"), settings);
  return std::make_unique<GateEncoder>(model / (prefix + "character"), model / (prefix + "word"),
                                       model / (prefix + "gate"), settings);
}

}  // namespace espalier::models
