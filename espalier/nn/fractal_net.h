/// FractalNet: a deep network that contains shallow ones, and learns to do with any of them (Larsson, Maire and
/// Shakhnarovich, "FractalNet: Ultra-Deep Neural Networks without Residuals", 2017).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/model.h"

namespace espalier::nn {

struct FractalNetOptions {
  /// How many fractals follow each other.
  std::int32_t blocks = 1;
  /// How often each is folded into itself: its longest path has 2^(depth - 1) layers, its shortest one.
  std::int32_t depth = 3;
  /// Drops paths at random while training: for each use of the net either single paths (local) or all but one column
  /// (global). No path is computed that is dropped.
  bool drop_path = false;
  /// The probability that a use drops locally.
  double local = 0.5;
  /// The probabilities, locally, that a join loses its short side (one layer) or its long one. It never loses both: one
  /// of them, with equal chances, is then kept.
  double drop_short = 0.25;
  double drop_long = 0.25;
  /// What a join makes of its two sides. Unset: their mean.
  std::function<Expr(Operand short_side, Operand long_side)> mix = {};
};

/// x: [n]   ->   y: [n], where the base layers take and give [n]
/// y = f_depth(x), once a block, with f_1 = a base layer, f_c+1(x) = mix(a base layer (x), f_c(f_c(x))); all of these
/// layers and fractals have weights of their own.
/// Column c of a fractal is the path along the base layers of all its f_c: 2^(depth - c) of them.
/// Parameters: those of the base layers, under "0.base" (of block 0), "0.first.base", "0.second.base",
/// "0.first.first.base" and so on.
class ESPALIER_EXPORT FractalNet {
 public:
  /// A layer, and what makes one with its parameters in a scope.
  using Layer = std::function<Expr(Operand)>;
  using Builder = std::function<Layer(const Scope&)>;

  /// Calls `base` blocks * (2^depth - 1) times. Refuses fewer than one block, a depth outside 1 to 16, and
  /// probabilities outside 0 to 1.
  FractalNet(const Scope& scope, const Builder& base, const FractalNetOptions& options = {});

  /// Which paths are dropped depends on the seed and the training step of the graph, on the instance's key, and on the
  /// number of the use within the instance, as with dropout. Refuses (CellError) to drop paths within a cell, whose
  /// function is traced once for all uses.
  Expr operator()(Operand x) const;

 private:
  class Paths;

  // f_c of fractal number `fractal`: 0 is a whole block, 2 i + 1 and 2 i + 2 are the two within fractal i.
  Expr run(std::int32_t block, std::int32_t fractal, std::int32_t c, const Operand& x, const Paths& paths) const;

  std::vector<std::vector<Layer>> bases_;  // by block and number of the fractal
  FractalNetOptions options_;
};

}  // namespace espalier::nn
