/// A small model that decodes until an end symbol, for tests of tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/control/run_batched.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"

namespace espalier::testing {

/// Decodes at most `most` symbols from a start symbol.
struct Start {
  std::int32_t symbol = 0;
  int most = 10;
};

struct Decoder {
  static constexpr std::int32_t kSymbols = 7;
  static constexpr std::int32_t kSize = 8;

  Model model{3};
  nn::Embedding symbols{model / "symbols", kSymbols, kSize};
  nn::LstmCell cell{model / "cell", kSize, kSize};
  nn::Linear scores{model / "scores", kSize, kSymbols};

  /// The symbols up to the end symbol 0.
  Task<std::vector<std::int64_t>> decode(Graph& g, Start start) const {
    std::vector<std::int64_t> made;
    auto state = cell.initial(g);
    std::int64_t symbol = start.symbol;
    do {
      state = cell(symbols(g, static_cast<std::int32_t>(symbol)), state);
      symbol = co_await argmax(scores(state.h));
      made.push_back(symbol);
    } while (symbol != 0 && static_cast<int>(made.size()) < start.most);
    co_return made;
  }

  /// The same, drawn.
  Task<std::vector<std::int64_t>> draw(Graph& g, Start start) const {
    std::vector<std::int64_t> made;
    auto state = cell.initial(g);
    std::int64_t symbol = start.symbol;
    while (static_cast<int>(made.size()) < start.most) {
      state = cell(symbols(g, static_cast<std::int32_t>(symbol)), state);
      symbol = co_await sample(scores(state.h));
      made.push_back(symbol);
    }
    co_return made;
  }
};

inline std::vector<Start> starts(int count) {
  std::vector<Start> list;
  for (int i = 0; i < count; ++i) list.push_back({static_cast<std::int32_t>(i % Decoder::kSymbols), 3 + 5 * i % 11});
  return list;
}

}  // namespace espalier::testing
