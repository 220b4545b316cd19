/// Random graphs of many ops, for comparing ways to compute the same thing.
///
/// record() turns a recipe into nodes. Two graphs of one recipe have the same nodes with the same ids, whatever their
/// element type and way of execution.
///
/// Ops with kinks (relu, max) only ever see numbers on a grid of quarters, which every way of computing gets exactly:
/// ties are exact or far. Results that grow are squashed, so that nothing overflows and float32 stays comparable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/ops/all.h"
#include "tests/support/random_recipe.h"

namespace espalier::testing {

/// What was recorded.
struct RandomGraph {
  std::vector<Expr> losses;   // one an instance, of rank 0
  std::vector<Expr> inputs;   // all leaves with data
  std::vector<Expr> outputs;  // further results, a few an instance
  Expr loss;                  // of all
};

/// Called while a graph is being recorded, with its newest result, after every move.
using Midway = std::function<void(const Expr&)>;

/// Records the moves of one instance.
class InstanceRecorder {
 public:
  InstanceRecorder(Graph& graph, const RandomNet& net, const Recipe& recipe, RandomGraph& result,
                   const std::vector<Expr>& contexts, const Midway& midway)
      : graph_(graph), net_(net), recipe_(recipe), result_(result), contexts_(contexts), midway_(midway) {}

  /// The loss.
  Expr record(const std::vector<Move>& moves, std::uint32_t label) {
    push(lookup(graph_, *net_.table, static_cast<std::int32_t>(label % RandomNet::kRows)), true, 2);
    for (const Move& move : moves) {
      step(move);
      if (midway_) midway_(pool_.back().x);
    }
    // Whatever nobody used is used here, so that every node has a gradient.
    std::vector<Expr> ends{pool_.back().x};
    for (const Item& item : pool_)
      if (!item.used) ends.push_back(item.x);
    result_.outputs.push_back(pool_.back().x);
    result_.outputs.push_back(pool_[pool_.size() / 2].x);
    const Expr end = mean(ends);
    const Expr scores = recipe_.products ? linear(end, *net_.classify) : slice(end, 0, 3);
    terms_.push_back(cross_entropy(scores, static_cast<std::int32_t>(label) % scores.shape()[0]));
    return sum(terms_);
  }

  /// The newest result.
  Expr state() const { return pool_.back().x; }

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
    if (recipe_.topology == Topology::kTree) {
      while (first_unused_ < pool_.size() && pool_[first_unused_].used) ++first_unused_;
      if (first_unused_ == pool_.size()) leaf(number);
      at = first_unused_;
    } else if (recipe_.topology == Topology::kLattice) {
      at -= std::min<std::size_t>(number % 3, at);
    } else if (recipe_.topology == Topology::kDag) {
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
    Tensor values({n_}, graph_.options().dtype);
    for (std::int64_t i = 0; i < n_; ++i)
      values.set(i, static_cast<double>((number + static_cast<std::uint32_t>(i * i) * 5U) % 11U) / 4 - 1.25);
    result_.inputs.push_back(graph_.input(values));
    push(result_.inputs.back(), true, 2);
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
    constexpr std::uint32_t kGroups = 10;
    switch (move.what % kGroups) {
      case 0: return map(move);
      case 1: return kinked(move);
      case 2: return ragged(move);
      case 3: return reduction(move);
      case 4: return rearrangement(move);
      case 5: return part(move);
      case 6: return join(move);
      case 7: return repeated(move);
      case 8: return recipe_.products ? product(move) : map(move);
      default: return recipe_.products ? products(move) : part(move);
    }
  }

  void map(const Move& move) {
    const Item x = take(move.a);
    switch (move.b % 18) {
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
      case 15: return push(silu(x.x), false, x.bound);
      case 16: {
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
      case 4: terms_.push_back(hinge(x.x, index(move.c))); return push(x.x, true, x.bound);
      default: {
        const Item y = take_grid(move.c);
        return push(max({x.x, y.x}), true, std::max(x.bound, y.bound));
      }
    }
  }

  void product(const Move& move) {
    const Item x = take(move.a);
    const double bound = spread_ * x.bound + 0.5;
    switch (move.b % 10) {
      case 0: return push(linear(x.x, *net_.W), false, bound);
      case 1: return push(affine(x.x, *net_.W, *net_.b), false, bound);
      case 2: return push(affine(x.x, *net_.V, x.x), false, bound + x.bound);  // one node, two operands
      case 3: return push(linear(x.x, tanh(graph_.parameter(*net_.W))), false, bound);
      case 4: return push(linear(x.x, transpose(graph_.parameter(*net_.V))), false, bound);
      case 5: return push(matvec(*net_.W, x.x), false, bound);
      case 6: {  // a matrix of the instance's own, used with x itself
        const Item y = take(move.c);
        const Expr M = matmul(reshape(x.x, {n_, 1}), reshape(tanh(y.x), {1, n_}));
        return push(matvec(M, x.x), false, n_ * x.bound * x.bound);
      }
      case 7: {
        const Item y = take(move.c);
        const Expr M = matmul(matmul(reshape(tanh(x.x), {n_, 1}), reshape(tanh(y.x), {1, n_})), *net_.W);
        return push(linear(y.x, M), false, 20);
      }
      case 8: {
        const Item y = take(move.c);
        return push(bilinear(tanh(x.x), *net_.tensor, tanh(y.x)), false, 20);
      }
      default: {  // the table as a whole
        const Expr scores = matvec(*net_.table, x.x);
        if (n_ < RandomNet::kRows) return push(slice(scores, 1, 1 + n_), false, 20);
        return push(concat({scores, slice(x.x, 0, n_ - RandomNet::kRows)}), false, 20);
      }
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
    switch (move.b % 11) {
      case 0: return push(softmax(x.x), false, 1);
      case 1: return push(log_softmax(x.x), false, 2 * x.bound + 2);
      case 2: {  // away from a variance of zero, where float32 says little
        Tensor spread({n_}, graph_.options().dtype);
        for (std::int64_t i = 0; i < n_; ++i) spread.set(i, static_cast<double>(i * 3 % 5) * 0.75 - 1.5);
        return push(layer_norm(tanh(x.x) + graph_.input(spread), *net_.gain, *net_.b), false, 2);
      }
      case 3: return push(x.x * dot(tanh(x.x), tanh(take(move.c).x)), false, n_ * x.bound);
      case 4: return push(tanh(x.x) * logsumexp(x.x), false, x.bound + 2);
      case 5: return push(x.x + pick(x.x, index(move.c)), x.grid, 2 * x.bound);
      case 6: return push(tanh(x.x) * l2_norm(sigmoid(x.x)), false, 3);
      case 7: return push(sigmoid(x.x) * squared_distance(tanh(x.x), take(move.c).x), false, 20);
      case 8: terms_.push_back(mse(x.x, take(move.c).x)); break;
      case 9: terms_.push_back(huber(x.x, take(move.c).x, 0.7)); break;
      default: terms_.push_back(binary_cross_entropy(x.x, sigmoid(take(move.c).x))); break;
    }
    push(x.x, x.grid, x.bound);
  }

  void rearrangement(const Move& move) {
    const auto row = static_cast<std::int32_t>(move.c % RandomNet::kRows);
    switch (move.b % 7) {
      case 0: return push(lookup(graph_, *net_.table, row), true, 2);
      case 1: return push(lookup(tanh(graph_.parameter(*net_.table)), row), false, 1);  // a computed table
      case 2: return leaf(move.c);
      case 3: {
        const Item x = take(move.a);
        const Item y = take(move.c);
        const auto begin = static_cast<std::int32_t>(move.c % (n_ + 1));
        return push(slice(concat({x.x, y.x}), begin, begin + n_), x.grid && y.grid, std::max(x.bound, y.bound));
      }
      case 4: {
        const std::vector<Item> items = several(move, true);
        const Expr rows = stack(exprs(items));
        if (move.a % 3 == 1) return push(min(rows, 0), true, largest(items));
        if (move.a % 3 == 2) return push(max(max_pool(rows, 2), 0), true, largest(items));
        return push(max(rows, 0), true, largest(items));
      }
      case 5: {
        const std::vector<Item> items = several(move, false);
        if (!recipe_.products) return push(mean(stack(exprs(items)), 0), false, largest(items));
        return push(mean(conv1d(stack(exprs(items)), *net_.filter, Padding::kSame), 0), false,
                    2 * spread_ * largest(items));
      }
      default: {
        const std::vector<Item> items = several(move, false);
        return push(sum(softmax(transpose(stack(exprs(items), 1))), 0), false, 5);
      }
    }
  }

  /// Parts of rows, and rows made of parts.
  void part(const Move& move) {
    const Item x = take(move.a);
    const Item y = take(move.c);
    const bool grid = x.grid && y.grid;
    const double bound = std::max(x.bound, y.bound);
    const std::int32_t at = index(move.c);
    switch (move.b % 10) {
      case 0: {  // a part of a part
        const Expr middle = slice(slice(x.x, 1, n_), 0, n_ - 2);
        return push(concat({middle, slice(y.x, 0, 2)}), grid, bound);
      }
      case 1: {  // a part in another shape
        const Expr rows = reshape(slice(concat({x.x, y.x, x.x}), at, at + 2 * n_), {2, n_});
        return push(reshape(slice(rows, 1, 2), {n_}), grid, bound);
      }
      case 2: {  // parts that overlap
        const Expr both = tanh(slice(x.x, 0, n_ - 1)) + slice(x.x, 1, n_);
        return push(concat({both, slice(y.x, at, at + 1)}), false, bound + 1);
      }
      case 3: return push(concat({slice(x.x, at, n_), slice(y.x, 0, at)}), grid, bound);
      case 4:  // as a whole and by parts
        return push(x.x + concat({slice(x.x, at, n_), slice(x.x, 0, at)}), x.grid, 2 * x.bound);
      case 5: {  // parts without elements
        const Expr none = slice(x.x, at, at);
        return push(concat({none, y.x, tanh(none), slice(y.x, n_, n_)}), y.grid, y.bound);
      }
      case 6: {  // gates
        const Expr both = concat({x.x, y.x});
        const Expr open = sigmoid(slice(both, at, at + n_));
        return push(open * tanh(slice(both, n_, 2 * n_)), false, 1);
      }
      case 7: {  // columns of a matrix
        const Expr rows = stack({x.x, y.x});
        const Expr turned = concat({slice(rows, at, n_, 1), slice(rows, 0, at, 1)}, 1);
        return push(sum(turned, 0), grid, x.bound + y.bound);
      }
      case 8: {  // both halves, one of them changed
        const std::int32_t half = n_ / 2;
        return push(concat({sigmoid(slice(x.x, 0, half)), slice(y.x, half, n_)}), false, std::max(bound, 1.0));
      }
      default: {  // single elements
        const Expr first = reshape(slice(x.x, at, at + 1), {});
        return push(y.x + first, grid, x.bound + y.bound);
      }
    }
  }

  /// Rows side by side, which are then read by parts or as a whole.
  void join(const Move& move) {
    const Item x = take(move.a);
    const Item y = take(move.c);
    const bool grid = x.grid && y.grid;
    const double bound = std::max(x.bound, y.bound);
    const std::int32_t at = index(move.c);
    switch (move.b % 9) {
      case 0: return push(slice(concat({x.x, x.x}), at, at + n_), x.grid, x.bound);  // one node, two places
      case 1: return push(slice(concat({concat({x.x, y.x}), x.x}), at, at + n_), grid, bound);
      case 2: {  // what is joined is joined again, and read in between
        const Expr both = concat({x.x, y.x});
        const Expr more = concat({y.x, both});
        return push(slice(both, at, at + n_) + slice(more, at, at + n_), grid, 2 * bound);
      }
      case 3: {
        const Expr rows = stack({x.x, y.x, x.x});
        return push(reshape(slice(rows, 1, 2), {n_}) + mean(rows, 0), false, 2 * bound);
      }
      case 4: {
        const Expr rows = stack({stack({x.x, y.x}), stack({y.x, x.x})});
        return push(mean(reshape(rows, {4, n_}), 0), false, bound);
      }
      case 5: return push(slice(concat({x.x, graph_.parameter(*net_.b)}), at, at + n_), false, std::max(bound, 1.0));
      case 6: {  // the same two, in two orders
        const Expr there = concat({x.x, y.x});
        const Expr back = concat({y.x, x.x});
        return push(slice(there * back, at, at + n_), false, bound * bound);
      }
      case 7: {  // computed for this place only
        const Expr both = concat({tanh(x.x), sigmoid(y.x), tanh(y.x)});
        return push(slice(both, at, at + n_) - slice(both, 2 * n_ - at, 3 * n_ - at), false, 2);
      }
      default: {
        const Expr rows = reshape(concat({x.x, y.x}), {2, n_});
        return push(sum(rows, 0) * dot(slice(x.x, 0, 2), slice(y.x, 1, 3)), false, 4 * bound * bound * bound);
      }
    }
  }

  /// What is computed alike in many instances, or from parameters only, and what only looks so.
  void repeated(const Move& move) {
    const auto row = static_cast<std::int32_t>(move.c % 2);
    const Expr word = lookup(graph_, *net_.table, row);
    switch (move.b % 12) {
      case 0: return push(tanh(word), false, 1);
      case 1: return push(word * lookup(graph_, *net_.table, static_cast<std::int32_t>(move.a % 3)), true, 4);
      case 2: return push(dropout(word, 0.3) + dropout(word, 0.3), false, 6);
      case 3: return push(tanh(dropout(word, 0.5)) + tanh(word), false, 2);
      case 4: return push(word + tanh(graph_.parameter(*net_.b)), false, 3);
      case 5: return push(tanh(graph_.parameter(*net_.b)) * *net_.gain, false, 1);  // no instance's own
      case 6: {
        const Item x = take(move.a);
        return push(x.x * dot(tanh(graph_.parameter(*net_.b)), *net_.gain), false, n_ * x.bound);
      }
      case 7: {
        const Item x = take(move.a);
        return push(sigmoid(x.x) + sigmoid(x.x), false, 2);
      }
      case 8: {
        const Item x = take(move.a);
        return push(dropout(x.x, 0.5) - dropout(x.x, 0.5), false, 4 * x.bound);
      }
      case 9: {
        const Item x = take(move.a);
        if (contexts_.empty()) return push(x.x * word, false, 2 * x.bound);
        return push(x.x + contexts_[move.c % contexts_.size()], false, x.bound + 1);
      }
      case 10: return push(slice(concat({word, tanh(word)}), index(move.a), index(move.a) + n_), false, 2);
      default: return push(recipe_.products ? tanh(affine(word, *net_.W, *net_.b)) : sigmoid(word), false, 1);
    }
  }

  /// Products that meet: of one operand, of each other's results, of computed weights.
  void products(const Move& move) {
    const Item x = take(move.a);
    const double bound = spread_ * x.bound + 0.5;
    const std::int32_t at = index(move.c);
    const auto parameter = [&](const Parameter* p) { return graph_.parameter(*p); };
    switch (move.b % 17) {
      case 0: return push(linear(linear(x.x, *net_.W), *net_.V), false, spread_ * bound);
      case 1: {
        const Item y = take(move.c);
        return push(linear(concat({x.x, y.x}), *net_.filter), false, 2 * spread_ * std::max(x.bound, y.bound));
      }
      case 2: {
        const Expr more = affine(x.x, *net_.W, *net_.b);
        return push(linear(x.x, *net_.W) + linear(x.x, *net_.V) - more, false, 3 * bound);
      }
      case 3: return push(linear(x.x, *net_.W) - linear(concat({x.x, x.x}), *net_.filter), false, 3 * bound);
      case 4: return push(linear(x.x, slice(parameter(net_.filter), at, at + n_)), false, bound);
      case 5: {
        const Expr both = concat({parameter(net_.W), parameter(net_.V)}, 1);
        return push(linear(x.x, slice(both, at, at + n_, 1)), false, bound);
      }
      case 6: {
        const Expr W = parameter(net_.W);
        return push(linear(x.x, W / (1 + l2_norm(flatten(W)))), false, bound);
      }
      case 7: return push(linear(x.x, softmax(parameter(net_.V))), false, n_ * x.bound);
      case 8: {  // a cell
        const Item y = take(move.c);
        const Expr g = affine(concat({x.x, y.x}), *net_.gates, *net_.gates_b);
        const Expr c = sigmoid(slice(g, 0, n_)) * tanh(slice(g, n_, 2 * n_));
        return push(tanh(slice(g, 2 * n_, 3 * n_)) * c, false, 1);
      }
      case 9: {  // of a part of another product
        const Item y = take(move.c);
        const Expr g = affine(concat({x.x, y.x}), *net_.gates, *net_.gates_b);
        return push(linear(slice(g, at, at + n_), *net_.W), false, 20);
      }
      case 10: {  // tied: the table as weights, there and back
        const Expr table = parameter(net_.table);
        return push(linear(softmax(linear(x.x, transpose(table))), table), false, 2);
      }
      case 11: {
        const Item y = take(move.c);
        const Expr rows = matmul(stack({x.x, y.x}), *net_.W);
        return push(reshape(slice(rows, 1, 2), {n_}) + mean(rows, 0), false, 20);
      }
      case 12:
        return push(affine(x.x, mul(parameter(net_.W), parameter(net_.V)), tanh(parameter(net_.b))), false, bound);
      case 13: return push(affine(x.x, *net_.W, slice(parameter(net_.gates_b), at, at + n_)), false, bound);
      case 14: {  // of nothing
        const Expr none = linear(slice(x.x, at, at), slice(parameter(net_.W), at, at));
        return push(x.x + none, false, x.bound);
      }
      case 15: {  // a product of parameters only
        const Expr b = linear(tanh(parameter(net_.b)), *net_.V);
        return push(affine(x.x, *net_.W, b), false, bound + spread_);
      }
      default: {  // a part of an operand that is used as a whole, too
        const Expr whole = linear(x.x, *net_.V);
        const Expr part = linear(slice(x.x, 1, n_), slice(parameter(net_.V), 1, n_));
        return push(whole - part, false, 2 * bound);
      }
    }
  }

  std::int32_t index(std::uint32_t number) const {
    return static_cast<std::int32_t>(number % static_cast<std::uint32_t>(n_));
  }

  Graph& graph_;
  const RandomNet& net_;
  const Recipe& recipe_;
  RandomGraph& result_;
  const std::vector<Expr>& contexts_;  // joint nodes
  const Midway& midway_;
  std::int32_t n_ = net_.width;
  double spread_ = 0.5 * std::sqrt(5.0 * n_);  // by how much a product may be larger than its operand
  std::vector<Item> pool_;
  std::size_t first_unused_ = 0;  // none before it; only trees count
  std::vector<Expr> terms_;
};

/// The loss of all instances.
inline Expr total(const Recipe& recipe, const std::vector<Expr>& losses) {
  switch (recipe.loss()) {
    case Recipe::Loss::kMean: return mean(losses);
    case Recipe::Loss::kScaled: return sum(losses) * 0.25;
    case Recipe::Loss::kNested: return sum({mean(losses), losses.front(), sum(losses)});
    default: return sum(losses);
  }
}

/// Records the instances of a recipe in the order given, each with its number there as key, and their loss.
inline RandomGraph record(Graph& graph, const RandomNet& net, const Recipe& recipe, std::span<const std::size_t> order,
                          const Midway& midway = {}) {
  if (graph.size() == 0) graph.set_step(0);  // the same masks in every way
  RandomGraph result;
  std::vector<Expr> states;
  std::vector<Expr> contexts;
  for (const std::size_t i : order) {
    graph.begin_instance(i);
    InstanceRecorder recorder(graph, net, recipe, result, contexts, midway);
    result.losses.push_back(recorder.record(recipe.moves_of(i), static_cast<std::uint32_t>(i)));
    if (midway) midway(result.losses.back());
    if (!recipe.joint()) continue;
    states.push_back(recorder.state());
    contexts.push_back(tanh(mean(states)));
  }
  if (!contexts.empty()) result.outputs.push_back(contexts.back());
  result.loss = total(recipe, result.losses);
  return result;
}
inline RandomGraph record(Graph& graph, const RandomNet& net, const Recipe& recipe, const Midway& midway = {}) {
  std::vector<std::size_t> order(recipe.instances.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return record(graph, net, recipe, order, midway);
}

}  // namespace espalier::testing
