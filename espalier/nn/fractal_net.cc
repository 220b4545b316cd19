#include "espalier/nn/fractal_net.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/gates.h"
#include "espalier/ops/dropout.h"
#include "espalier/ops/mean.h"

namespace espalier::nn {
namespace {

void require_probability(const Scope& scope, std::string_view name, double probability) {
  if (!(probability >= 0 && probability <= 1))
    throw UsageError(
        fmt::format("fractal net \"{}\": {} must be from 0 to 1, and {} was given", scope.prefix(), name, probability));
}

// The base layers of a fractal and of those within it, in the order of their numbers.
void build(const Scope& scope, const FractalNet::Builder& base, std::size_t fractal,
           std::vector<FractalNet::Layer>& layers) {
  if (fractal >= layers.size()) return;
  layers[fractal] = base(scope / "base");
  build(scope / "first", base, 2 * fractal + 1, layers);
  build(scope / "second", base, 2 * fractal + 2, layers);
}

}  // namespace

/// Which paths one use of the net has: all, those of one column, or what is left at every join.
class FractalNet::Paths {
 public:
  Paths() = default;  // all
  Paths(const FractalNetOptions& options, const ops::DropoutFields& random) : options_(&options), random_(random) {
    const auto [choice, column, unused0, unused1] = random.words(0);
    if (uniform_float(choice) >= static_cast<float>(options.local))
      column_ = 1 + static_cast<std::int32_t>(
                        static_cast<std::uint64_t>(column) * static_cast<std::uint64_t>(options.depth) >> 32);
  }

  struct Sides {
    bool short_side = true;
    bool long_side = true;
  };
  /// What is left of the join in an f_c; `join` numbers the joins of the net from 0.
  Sides at(std::uint32_t join, std::int32_t c) const {
    if (options_ == nullptr) return {};
    if (column_ > 0) return {column_ == c, column_ != c};
    const auto [for_short, for_long, coin, unused] = random_.words(join + 1);
    Sides sides{uniform_float(for_short) >= static_cast<float>(options_->drop_short),
                uniform_float(for_long) >= static_cast<float>(options_->drop_long)};
    if (!sides.short_side && !sides.long_side) (coin % 2 == 0 ? sides.short_side : sides.long_side) = true;
    return sides;
  }

 private:
  const FractalNetOptions* options_ = nullptr;
  ops::DropoutFields random_;
  std::int32_t column_ = 0;  // 0: paths are dropped locally
};

FractalNet::FractalNet(const Scope& scope, const Builder& base, const FractalNetOptions& options) : options_(options) {
  constexpr std::int32_t kDeepest = 16;
  detail::require_size("fractal net", scope, "the number of blocks", options.blocks);
  if (options.depth < 1 || options.depth > kDeepest)
    throw UsageError(fmt::format("fractal net \"{}\": the depth must be from 1 to {}, and {} was given", scope.prefix(),
                                 kDeepest, options.depth));
  require_probability(scope, "the share of local drop-path", options.local);
  require_probability(scope, "the probability to drop the short side", options.drop_short);
  require_probability(scope, "the probability to drop the long side", options.drop_long);
  for (std::int32_t block = 0; block < options.blocks; ++block) {
    std::vector<Layer>& layers = bases_.emplace_back((std::size_t{1} << options.depth) - 1);
    build(scope / std::to_string(block), base, 0, layers);
  }
}

Expr FractalNet::operator()(Operand x) const {
  Graph& graph = x.expr().graph();
  const GraphOptions& run_options = graph.options();
  Paths paths;
  if (options_.drop_path && run_options.training) {
    if (graph.is_trace())
      throw CellError(
          fmt::format("cell \"{}\": a fractal net chooses its paths anew for every use, and a cell is traced "
                      "once for all of them",
                      graph.traced_cell()));
    paths = Paths(options_, ops::DropoutFields::at(run_options.seed, graph.step(), graph.next_random_place()));
  }
  Operand y = x;
  for (std::int32_t block = 0; block < options_.blocks; ++block) y = x.at(run(block, 0, options_.depth, y, paths));
  return y.expr();
}

Expr FractalNet::run(std::int32_t block, std::int32_t fractal, std::int32_t c, const Operand& x,
                     const Paths& paths) const {
  const std::vector<Layer>& bases = bases_[static_cast<std::size_t>(block)];
  const Layer& base = bases[static_cast<std::size_t>(fractal)];
  if (c == 1) return base(x);
  const auto join =
      static_cast<std::uint32_t>(static_cast<std::size_t>(block) * bases.size()) + static_cast<std::uint32_t>(fractal);
  const Paths::Sides sides = paths.at(join, c);
  const auto long_side = [&] {
    const Expr middle = run(block, 2 * fractal + 1, c - 1, x, paths);
    return run(block, 2 * fractal + 2, c - 1, x.at(middle), paths);
  };
  if (!sides.long_side) return base(x);
  if (!sides.short_side) return long_side();
  const Expr short_result = base(x);
  const Expr long_result = long_side();
  if (options_.mix) return options_.mix(x.at(short_result), x.at(long_result));
  const std::array both{short_result, long_result};
  return mean(Operands(both, x.where()));
}

}  // namespace espalier::nn
