/// Random graphs of many ops, for comparing ways to compute the same thing.
///
/// A recipe is a list of small numbers that any list is a legal value of, so that a generator may draw it and shrink it
/// freely; record() turns it into nodes. Two graphs of one recipe have the same nodes with the same ids, whatever their
/// element type and way of execution.
///
/// Ops with kinks (relu, max) only ever see numbers on a grid of quarters, which every way of computing gets exactly:
/// ties are exact or far. Results that grow are squashed, so that nothing overflows and float32 stays comparable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"

namespace espalier::testing {

/// One step of a recipe: what to do, and numbers from which operands, rows and constants are taken.
struct Move {
  std::uint32_t what = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

/// How operands are chosen.
enum class Topology : std::uint32_t {
  kChain,    // the newest
  kTree,     // the oldest that nobody used yet
  kLattice,  // one of the newest three
  kDag,      // any
};

struct Recipe {
  Topology topology = Topology::kDag;
  std::vector<std::vector<Move>> instances;
};

/// The parameters that random graphs use. Rows of the table are on the grid.
struct RandomNet {
  static constexpr std::int32_t kWidth = 5;
  static constexpr std::int32_t kRows = 7;
  static constexpr std::int32_t kLabels = 4;

  explicit RandomNet(std::uint64_t seed, DType dtype = DType::kFloat32) : model(seed) {
    const auto add = [&](const char* name, const Shape& shape) -> Parameter& {
      return model.add(name, shape, init::uniform(-0.5, 0.5));
    };
    table = &add("table", {kRows, kWidth});
    for (std::int64_t i = 0; i < table->value().elements(); ++i)
      table->mutable_value().set(i, static_cast<double>((i * 7 + static_cast<std::int64_t>(seed)) % 13 - 6) / 4);
    W = &add("W", {kWidth, kWidth});
    V = &add("V", {kWidth, kWidth});
    b = &add("b", {kWidth});
    gain = &add("gain", {kWidth});
    tensor = &add("tensor", {kWidth, kWidth, kWidth});
    filter = &add("filter", {2 * kWidth, kWidth});
    classify = &add("classify", {kWidth, kLabels});
    model.to(dtype);
  }

  Model model;
  Parameter* table;
  Parameter* W;
  Parameter* V;
  Parameter* b;
  Parameter* gain;
  Parameter* tensor;
  Parameter* filter;
  Parameter* classify;
};

/// What was recorded.
struct RandomGraph {
  std::vector<Expr> losses;  // one an instance, of rank 0
  std::vector<Expr> inputs;  // all leaves with data
  Expr loss;                 // the sum of all
};

/// Records the moves of one instance.
class InstanceRecorder {
 public:
  InstanceRecorder(Graph& graph, const RandomNet& net, Topology topology, std::vector<Expr>& inputs)
      : graph_(graph), net_(net), topology_(topology), inputs_(inputs) {}

  /// The loss.
  Expr record(const std::vector<Move>& moves, std::uint32_t label) {
    push(lookup(graph_, *net_.table, static_cast<std::int32_t>(label % RandomNet::kRows)), true, 2);
    for (const Move& move : moves) step(move);
    // Whatever nobody used is used here, so that every node has a gradient.
    std::vector<Expr> ends{pool_.back().x};
    for (const Item& item : pool_)
      if (!item.used) ends.push_back(item.x);
    terms_.push_back(
        cross_entropy(linear(mean(ends), *net_.classify), static_cast<std::int32_t>(label % RandomNet::kLabels)));
    return sum(terms_);
  }

 private:
  struct Item {
    Expr x;
    bool grid;
    double bound;
    bool used = false;
  };

  /// Adds a vector whose elements are at most `bound`, squashed if that is much.
  void push(const Expr& x, bool grid, double bound) {
    if (bound <= 6)
      pool_.push_back({x, grid, bound});
    else if (grid)
      pool_.push_back({clamp(x, -3, 3), true, 3});
    else
      pool_.push_back({tanh(x), false, 1});
  }

  Item take(std::uint32_t number) {
    std::size_t at = pool_.size() - 1;
    if (topology_ == Topology::kTree) {
      while (first_unused_ < pool_.size() && pool_[first_unused_].used) ++first_unused_;
      if (first_unused_ == pool_.size()) leaf(number);
      at = first_unused_;
    } else if (topology_ == Topology::kLattice) {
      at -= std::min<std::size_t>(number % 3, at);
    } else if (topology_ == Topology::kDag) {
      at = number % pool_.size();
    }
    pool_[at].used = true;
    return pool_[at];
  }

  /// An operand for an op with a kink.
  Item take_grid(std::uint32_t number) {
    const Item item = take(number);
    if (item.grid) return item;
    return {lookup(graph_, *net_.table, static_cast<std::int32_t>(number % RandomNet::kRows)), true, 2};
  }

  void leaf(std::uint32_t number) {
    Tensor values({RandomNet::kWidth}, graph_.options().dtype);
    for (std::int64_t i = 0; i < RandomNet::kWidth; ++i)
      values.set(i, static_cast<double>((number + static_cast<std::uint32_t>(i * i) * 5U) % 11U) / 4 - 1.25);
    inputs_.push_back(graph_.input(values));
    push(inputs_.back(), true, 2);
  }

  /// One to five of the pool, some perhaps twice.
  std::vector<Item> several(const Move& move, bool grid) {
    std::vector<Item> items;
    for (std::uint32_t i = 0; i <= move.c % 5; ++i)
      items.push_back(grid ? take_grid(move.a + i * move.b) : take(move.a + i * move.b));
    return items;
  }
  static std::vector<Expr> exprs(const std::vector<Item>& items) {
    std::vector<Expr> result;
    for (const Item& item : items) result.push_back(item.x);
    return result;
  }
  static double largest(const std::vector<Item>& items) {
    double bound = 0;
    for (const Item& item : items) bound = std::max(bound, item.bound);
    return bound;
  }
  static bool all_grid(const std::vector<Item>& items) {
    return std::all_of(items.begin(), items.end(), [](const Item& item) { return item.grid; });
  }

  void step(const Move& move) {
    constexpr std::uint32_t kGroups = 6;
    switch (move.what % kGroups) {
      case 0: return map(move);
      case 1: return kinked(move);
      case 2: return product(move);
      case 3: return ragged(move);
      case 4: return reduction(move);
      default: return rearrangement(move);
    }
  }

  void map(const Move& move) {
    const Item x = take(move.a);
    switch (move.b % 17) {
      case 0: return push(tanh(x.x), false, 1);
      case 1: return push(sigmoid(x.x), false, 1);
      case 2: return push(gelu(x.x), false, x.bound);
      case 3: return push(softplus(x.x), false, x.bound + 1);
      case 4: return push(exp(tanh(x.x)), false, 2.8);
      case 5: return push(log(square(x.x) + 0.5), false, 4);
      case 6: return push(sqrt(square(x.x) + 0.5), false, x.bound + 1);
      case 7: return push(elu(x.x, 1), false, x.bound);
      case 8: return push(x.x * (static_cast<double>(move.c % 7) / 3 - 1), false, x.bound);
      case 9: return push(-x.x, x.grid, x.bound);
      case 10: return push(1 - x.x, x.grid, x.bound + 1);
      case 11: return push(mul(x.x, x.x), false, x.bound * x.bound);
      case 12: return push(dropout(x.x, 0.4), false, 2 * x.bound);
      case 13: {
        const Item y = take(move.c);
        return push(x.x + y.x, x.grid && y.grid, x.bound + y.bound);
      }
      case 14: {
        const Item y = take(move.c);
        return push(x.x - y.x, x.grid && y.grid, x.bound + y.bound);
      }
      case 15: {
        const Item y = take(move.c);
        return push(x.x / (1.5 + square(y.x)), false, x.bound);
      }
      default: {
        const Item y = take(move.c);
        return push(x.x * y.x, false, x.bound * y.bound);
      }
    }
  }

  void kinked(const Move& move) {
    const Item x = take_grid(move.a);
    switch (move.b % 6) {
      case 0: return push(relu(x.x), true, x.bound);
      case 1: return push(abs(x.x), true, x.bound);
      case 2: return push(clamp(x.x, -0.5, 1), true, 1);
      case 3: return push(leaky_relu(x.x, 0.1), false, x.bound);
      case 4:
        terms_.push_back(hinge(x.x, static_cast<std::int32_t>(move.c % RandomNet::kWidth)));
        return push(x.x, true, x.bound);
      default: {
        const Item y = take_grid(move.c);
        return push(max({x.x, y.x}), true, std::max(x.bound, y.bound));
      }
    }
  }

  void product(const Move& move) {
    const Item x = take(move.a);
    const double bound = 2.5 * x.bound + 0.5;
    constexpr std::int32_t kN = RandomNet::kWidth;
    switch (move.b % 10) {
      case 0: return push(linear(x.x, *net_.W), false, bound);
      case 1: return push(affine(x.x, *net_.W, *net_.b), false, bound);
      case 2: return push(affine(x.x, *net_.V, x.x), false, bound + x.bound);  // one node, two operands
      case 3: return push(linear(x.x, tanh(graph_.parameter(*net_.W))), false, bound);
      case 4: return push(linear(x.x, transpose(graph_.parameter(*net_.V))), false, bound);
      case 5: return push(matvec(*net_.W, x.x), false, bound);
      case 6: {  // a matrix of the instance's own, used with x itself
        const Item y = take(move.c);
        const Expr M = matmul(reshape(x.x, {kN, 1}), reshape(tanh(y.x), {1, kN}));
        return push(matvec(M, x.x), false, kN * x.bound * x.bound);
      }
      case 7: {
        const Item y = take(move.c);
        const Expr M = matmul(matmul(reshape(tanh(x.x), {kN, 1}), reshape(tanh(y.x), {1, kN})), *net_.W);
        return push(linear(y.x, M), false, 20);
      }
      case 8: {
        const Item y = take(move.c);
        return push(bilinear(tanh(x.x), *net_.tensor, tanh(y.x)), false, 12);
      }
      default: return push(slice(matvec(*net_.table, x.x), 1, 1 + kN), false, 20);  // the table as a whole
    }
  }

  void ragged(const Move& move) {
    const bool needs_grid = move.b % 4 > 1;
    const std::vector<Item> items = several(move, needs_grid);
    const std::vector<Expr> x = exprs(items);
    switch (move.b % 4) {
      case 0: return push(sum(x), all_grid(items), largest(items) * static_cast<double>(x.size()));
      case 1: return push(mean(x), false, largest(items));
      case 2: return push(max(x), true, largest(items));
      default: return push(min(x), true, largest(items));
    }
  }

  void reduction(const Move& move) {
    const Item x = take(move.a);
    constexpr std::int32_t kN = RandomNet::kWidth;
    switch (move.b % 11) {
      case 0: return push(softmax(x.x), false, 1);
      case 1: return push(log_softmax(x.x), false, 2 * x.bound + 2);
      case 2: {  // away from a variance of zero, where float32 says little
        Tensor spread({kN}, graph_.options().dtype);
        for (std::int64_t i = 0; i < kN; ++i) spread.set(i, static_cast<double>(i * i) * 0.5 - 2);
        return push(layer_norm(tanh(x.x) + graph_.input(spread), *net_.gain, *net_.b), false, 2);
      }
      case 3: return push(x.x * dot(tanh(x.x), tanh(take(move.c).x)), false, kN * x.bound);
      case 4: return push(tanh(x.x) * logsumexp(x.x), false, x.bound + 2);
      case 5: return push(x.x + pick(x.x, static_cast<std::int32_t>(move.c % kN)), x.grid, 2 * x.bound);
      case 6: return push(tanh(x.x) * l2_norm(sigmoid(x.x)), false, 3);
      case 7: return push(sigmoid(x.x) * squared_distance(tanh(x.x), take(move.c).x), false, 20);
      case 8: terms_.push_back(mse(x.x, take(move.c).x)); break;
      case 9: terms_.push_back(huber(x.x, take(move.c).x, 0.7)); break;
      default: terms_.push_back(binary_cross_entropy(x.x, sigmoid(take(move.c).x))); break;
    }
    push(x.x, x.grid, x.bound);
  }

  void rearrangement(const Move& move) {
    constexpr std::int32_t kN = RandomNet::kWidth;
    const auto row = static_cast<std::int32_t>(move.c % RandomNet::kRows);
    switch (move.b % 7) {
      case 0: return push(lookup(graph_, *net_.table, row), true, 2);
      case 1: return push(lookup(tanh(graph_.parameter(*net_.table)), row), false, 1);  // a computed table
      case 2: return leaf(move.c);
      case 3: {
        const Item x = take(move.a);
        const Item y = take(move.c);
        const auto begin = static_cast<std::int32_t>(move.c % (kN + 1));
        return push(slice(concat({x.x, y.x}), begin, begin + kN), x.grid && y.grid, std::max(x.bound, y.bound));
      }
      case 4: {
        const std::vector<Item> items = several(move, true);
        return push(max(stack(exprs(items)), 0), true, largest(items));
      }
      case 5: {
        const std::vector<Item> items = several(move, false);
        return push(mean(conv1d(stack(exprs(items)), *net_.filter, Padding::kSame), 0), false, 5 * largest(items));
      }
      default: {
        const std::vector<Item> items = several(move, false);
        return push(sum(softmax(transpose(stack(exprs(items), 1))), 0), false, 5);
      }
    }
  }

  Graph& graph_;
  const RandomNet& net_;
  Topology topology_;
  std::vector<Expr>& inputs_;
  std::vector<Item> pool_;
  std::size_t first_unused_ = 0;  // none before it; only trees count
  std::vector<Expr> terms_;
};

/// Records the instances from `first` to `last` - 1 of a recipe, and the sum of their losses.
inline RandomGraph record(Graph& graph, const RandomNet& net, const Recipe& recipe, std::size_t first,
                          std::size_t last) {
  RandomGraph result;
  for (std::size_t i = first; i < last; ++i) {
    graph.begin_instance(i);
    InstanceRecorder recorder(graph, net, recipe.topology, result.inputs);
    result.losses.push_back(recorder.record(recipe.instances[i], static_cast<std::uint32_t>(i)));
  }
  result.loss = sum(result.losses);
  return result;
}
inline RandomGraph record(Graph& graph, const RandomNet& net, const Recipe& recipe) {
  return record(graph, net, recipe, 0, recipe.instances.size());
}

}  // namespace espalier::testing
