/// Cells with random functions, as small numbers from which any list is a legal function: a generator may draw and
/// shrink it freely.
///
/// All vectors in a function have the width of the net; ops with kinks only see numbers that are far from them, and
/// what grows is squashed, so that float32 stays comparable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/cells/cell.h"
#include "espalier/ops/all.h"
#include "tests/support/random_recipe.h"

namespace espalier::testing {

/// The parameters of random cells.
struct CellNet : RandomNet {
  explicit CellNet(std::uint64_t seed, std::int32_t of_width)
      : RandomNet(seed, DType::kFloat32, of_width), signs(&model.add("signs", {width}, init::constant(2))) {
    for (std::int64_t i = 1; i < width; i += 2) signs->mutable_value().set(i, -2);
  }

  Parameter* signs;  // 2, -2, 2, ...
};

/// A function as numbers.
struct CellRecipe {
  std::uint32_t inputs = 0;          // one to four
  std::uint32_t outer = 0;           // a bit for each input that is outer
  std::vector<Move> moves;           // each adds a vector to those that are there
  std::vector<std::uint32_t> gives;  // one to three results

  std::size_t input_count() const { return 1 + inputs % 4; }
  std::size_t result_count() const { return std::clamp<std::size_t>(gives.size(), 1, 3); }
};

class RandomCell;

/// Records the ops of one use.
class CellBody {
 public:
  CellBody(const CellNet& net, std::span<const RandomCell> others, std::span<const Expr> inputs)
      : net_(net), others_(others), n_(net.width) {
    for (const Expr& input : inputs) pool_.push_back({input, kLargest});
  }

  void add(const Move& move) {
    switch (move.what % 13) {
      case 0: return map(move);
      case 1: return map_of_two(move);
      case 2: return multiply_and_add(move);
      case 3: return product(move);
      case 4: return sum_of_products(move);
      case 5: return product_of_parts(move);
      case 6: return part(move);
      case 7: return ragged(move);
      case 8: return reduction(move);
      case 9: return with_parameters(move);
      case 10: return kinked(move);
      case 11: return other_product(move);
      default: return nested(move);
    }
  }

  /// The vector that the last move added.
  const Expr& newest() const { return pool_.back().x; }

  static constexpr std::uint32_t kForms = 8;
  static constexpr std::uint32_t kNewForms = 4;
  /// A vector of the function or an input: the first forms are nodes of their own.
  Expr result(std::uint32_t number) {
    const Expr x = take(number / kForms).x;
    switch (number % kForms) {
      case 0: return slice(x, 1, n_);
      case 1: return reshape(x, {1, n_});
      case 2: return concat({x, take(number / kForms / kForms).x});
      case 3: return dot(tanh(x), *net_.signs);
      default: return x;
    }
  }

 private:
  static constexpr double kLargest = 6;
  struct Item {
    Expr x;
    double bound;
  };

  const Item& take(std::uint32_t number) const { return pool_[number % pool_.size()]; }
  std::int32_t index(std::uint32_t number) const {
    return static_cast<std::int32_t>(number % static_cast<std::uint32_t>(n_));
  }
  void push(const Expr& x, double bound) {
    if (bound <= kLargest)
      pool_.push_back({x, bound});
    else
      pool_.push_back({tanh(x), 1});
  }
  /// Large, whatever the operands: products and the like.
  void push_squashed(const Expr& x) { push(x, kLargest + 1); }

  void map(const Move& move) {
    const Item x = take(move.a);
    switch (move.b % 13) {
      case 0: return push(tanh(x.x), 1);
      case 1: return push(sigmoid(x.x), 1);
      case 2: return push(gelu(x.x), x.bound);
      case 3: return push(softplus(x.x), x.bound + 1);
      case 4: return push(exp(tanh(x.x)), 2.8);
      case 5: return push(log(square(x.x) + 0.5), 4);
      case 6: return push(sqrt(square(x.x) + 0.5), x.bound + 1);
      case 7: return push(elu(x.x, 1), x.bound);
      case 8: return push(x.x * (static_cast<double>(move.c % 7) / 3 - 1), x.bound);
      case 9: return push(-x.x, x.bound);
      case 10: return push(1 - x.x, x.bound + 1);
      case 11: return push(dropout(x.x, 0.4), 2 * x.bound);
      default: return push(dropout(x.x, 0.3) + tanh(dropout(x.x, 0.5)), 2 * x.bound + 1);
    }
  }

  void map_of_two(const Move& move) {
    const Item x = take(move.a);
    const Item y = take(move.c);
    switch (move.b % 4) {
      case 0: return push(x.x + y.x, x.bound + y.bound);
      case 1: return push(x.x - y.x, x.bound + y.bound);
      case 2: return push(x.x * y.x, x.bound * y.bound);
      default: return push(x.x / (1.5 + square(y.x)), x.bound);
    }
  }

  void multiply_and_add(const Move& move) {
    const Item x = take(move.a);
    const Item y = take(move.b);
    const Item z = take(move.c);
    const double bound = x.bound * y.bound + z.bound;
    switch ((move.a + move.b + move.c) % 7) {
      case 0: return push(mul_add(x.x, y.x, z.x), bound);
      case 1: return push(x.x * y.x + z.x, bound);
      case 2: return push(z.x + x.x * y.x, bound);
      case 3: return push(x.x * y.x + y.x * z.x, bound + y.bound * z.bound);
      case 4: {  // needed once more
        const Expr both = x.x * y.x;
        return push(tanh(both + z.x) + tanh(both), 2);
      }
      case 5: return push_squashed(sum({x.x * y.x, z.x, y.x * z.x, x.x}));
      default: {
        const Expr both = x.x * y.x;
        return push_squashed(both + both);
      }
    }
  }

  void product(const Move& move) {
    const Item x = take(move.a);
    switch (move.b % 7) {
      case 0: return push_squashed(linear(x.x, *net_.W));
      case 1: return push_squashed(affine(x.x, *net_.W, *net_.b));
      case 2: return push_squashed(linear(tanh(linear(x.x, *net_.W)), *net_.W));  // the same weights twice
      case 3: return push_squashed(affine(affine(x.x, *net_.V, *net_.b), *net_.W, *net_.b));
      case 4: {  // read as a whole and by parts
        const Expr y = affine(x.x, *net_.V, *net_.b);
        return push_squashed(concat({slice(y, index(move.c), n_), slice(y, 0, index(move.c))}) * tanh(y));
      }
      case 5: {
        const Expr y = take(move.c).x;
        return push_squashed(affine(x.x, *net_.W, y));  // no parameter as a bias
      }
      default: {  // weights that are computed from parameters alone
        return push_squashed(linear(x.x, tanh(x.x.graph().parameter(*net_.W))));
      }
    }
  }

  void sum_of_products(const Move& move) {
    const Expr x = take(move.a).x;
    const Expr y = take(move.c).x;
    switch (move.b % 8) {
      case 0: return push_squashed(linear(x, *net_.W) + linear(y, *net_.V));
      case 1: return push_squashed(affine(x, *net_.W, *net_.b) + affine(y, *net_.W, *net_.b));
      case 2: return push_squashed(linear(x, *net_.W) + (linear(y, *net_.V) + affine(x, *net_.V, *net_.b)));
      case 3: {
        const Expr p = linear(x, *net_.W);
        return push_squashed(p + p);
      }
      case 4: {  // the first is needed elsewhere
        const Expr p = linear(x, *net_.W);
        return push_squashed((p + linear(y, *net_.V)) * tanh(p));
      }
      case 5: {  // the second is computed from the first
        const Expr p = linear(x, *net_.W);
        return push_squashed(p + linear(tanh(p), *net_.V));
      }
      case 6: {
        const Expr later = linear(y, *net_.V);
        return push_squashed(sum({affine(x, *net_.W, *net_.b), later, x}));
      }
      default: {
        const Expr later = linear(y, *net_.V);
        const Expr first = linear(x, *net_.W);
        const Expr between = tanh(later);
        return push_squashed((first + linear(between, *net_.W)) + between);
      }
    }
  }

  void product_of_parts(const Move& move) {
    const Expr x = take(move.a).x;
    const Expr y = take(move.c).x;
    const std::int32_t at = index(move.c);
    switch (move.b % 7) {
      case 0: return push_squashed(linear(concat({x, y}), *net_.filter));
      case 1: return push_squashed(affine(concat({x, x}), *net_.filter, *net_.b));
      case 2: {
        const Expr both = concat({x, y});
        return push_squashed(linear(both, *net_.filter) + affine(both, *net_.filter, *net_.b));
      }
      case 3: {  // multiplied and read
        const Expr both = concat({x, y});
        return push_squashed(linear(both, *net_.filter) + slice(both, at, at + n_));
      }
      case 4: return push_squashed(linear(concat({slice(x, 0, at), y, slice(x, at, n_)}), *net_.filter));
      case 5: {
        const Expr gates = affine(concat({x, y}), *net_.gates, *net_.gates_b);
        const Expr open = sigmoid(slice(gates, 0, 2 * n_));
        const Expr c = slice(open, 0, n_) * x + slice(open, n_, 2 * n_) * tanh(slice(gates, 2 * n_, 3 * n_));
        return push_squashed(c);
      }
      default: {  // gates of an input that are added to those of another
        const Expr from_x = affine(concat({x, x}), *net_.gates, *net_.gates_b);
        const Expr gates = from_x + linear(concat({y, slice(y, 0, at), slice(x, at, n_)}), *net_.gates);
        return push(sigmoid(slice(gates, 0, n_)) * tanh(slice(gates, n_, 2 * n_)), 1);
      }
    }
  }

  void part(const Move& move) {
    const Item x = take(move.a);
    const Item y = take(move.c);
    const double bound = std::max(x.bound, y.bound);
    const std::int32_t at = index(move.c);
    switch (move.b % 9) {
      case 0: return push(concat({slice(x.x, at, n_), slice(y.x, 0, at)}), bound);
      case 1: return push(reshape(slice(reshape(concat({x.x, y.x}), {2, n_}), 1, 2), {n_}), bound);
      case 2: return push(concat({tanh(slice(x.x, 0, n_ - 1)) + slice(x.x, 1, n_), slice(y.x, 0, 1)}), bound + 1);
      case 3: return push(x.x + concat({slice(x.x, at, n_), slice(x.x, 0, at)}), 2 * x.bound);
      case 4: {  // parts without elements
        const Expr none = slice(x.x, at, at);
        return push(concat({none, y.x, tanh(none)}), y.bound);
      }
      case 5: return push(slice(concat({concat({x.x, y.x}), x.x}), at, at + n_), bound);
      case 6: return push(sum(stack({x.x, y.x}), 0), x.bound + y.bound);
      case 7: return push(mean(transpose(stack({x.x, y.x, x.x})), 1), bound);
      default: return push(y.x + reshape(slice(x.x, at, at + 1), {}), x.bound + y.bound);
    }
  }

  void ragged(const Move& move) {
    std::vector<Expr> list;
    double bound = 0;
    for (std::uint32_t i = 0; i <= move.c % 5; ++i) {
      const Item& item = take(move.a + i * move.b);
      list.push_back(item.x);
      bound = std::max(bound, item.bound);
    }
    if (move.b % 2 == 0) return push(sum(list), bound * static_cast<double>(list.size()));
    push(mean(list), bound);
  }

  void reduction(const Move& move) {
    const Item x = take(move.a);
    const Item y = take(move.c);
    switch (move.b % 7) {
      case 0: return push(softmax(x.x), 1);
      case 1: return push(log_softmax(x.x), 2 * x.bound + 5);
      case 2: return push(layer_norm(0.25 * tanh(x.x) + *net_.signs, *net_.gain, *net_.b), 3);
      case 3: return push_squashed(x.x * dot(tanh(x.x), tanh(y.x)));
      case 4: return push_squashed(tanh(x.x) * logsumexp(y.x));
      case 5: return push_squashed(x.x * l2_norm(sigmoid(y.x)));
      default: return push_squashed(sigmoid(x.x) * squared_distance(tanh(x.x), tanh(y.x)));
    }
  }

  void with_parameters(const Move& move) {
    const Item x = take(move.a);
    const Item y = take(move.c);
    switch (move.b % 8) {
      case 0: return push(x.x * *net_.gain, x.bound);
      case 1: return push(x.x + *net_.b, x.bound + 1);
      case 2: return push(x.x * *net_.gain + *net_.b, x.bound + 1);
      case 3: return push(x.x * *net_.gain + y.x * *net_.gain, x.bound + y.bound);
      case 4: return push(sub(*net_.b, x.x), x.bound + 1);
      case 5: return push(mul(*net_.gain, x.x) + sum({x.x * *net_.b, y.x}), 2 * x.bound + y.bound);
      case 6: return push(concat({slice(x.x * *net_.gain, 1, n_), slice(y.x, 0, 1)}), std::max(x.bound, y.bound));
      default: return push(mul_add(x.x, *net_.gain, *net_.b), x.bound + 1);
    }
  }

  void kinked(const Move& move) {
    const Expr x = tanh(take(move.a).x) + *net_.signs;
    switch (move.b % 6) {
      case 0: return push(relu(x), 3);
      case 1: return push(abs(x), 3);
      case 2: return push(clamp(x, -0.5, 0.75), 1);
      case 3: return push(leaky_relu(x, 0.1), 3);
      case 4: return push(max({x, tanh(take(move.c).x) - *net_.signs}), 3);
      default: return push(min({tanh(take(move.c).x) - *net_.signs, x, x}), 3);
    }
  }

  /// Products of other kinds, with shared weights.
  void other_product(const Move& move) {
    const Expr x = take(move.a).x;
    const Expr y = take(move.c).x;
    switch (move.b % 5) {
      case 0: return push_squashed(matvec(*net_.W, x));
      case 1: return push_squashed(sum(matmul(stack({x, y}), *net_.W), 0));
      case 2: return push_squashed(bilinear(tanh(x), *net_.tensor, tanh(y)));
      case 3: return push_squashed(mean(conv1d(stack({x, y, x}), *net_.filter, Padding::kSame), 0));
      default: {  // a matrix of the row's own
        const Expr M = matmul(reshape(tanh(x), {n_, 1}), reshape(tanh(y), {1, n_}));
        return push_squashed(matvec(M, x) + linear(y, M));
      }
    }
  }

  void nested(const Move& move);

  const CellNet& net_;
  std::span<const RandomCell> others_;
  std::int32_t n_;
  std::vector<Item> pool_;
};

class RandomCell {
 public:
  /// `others` come before it, and may be used within it.
  RandomCell(const CellNet& net, const CellRecipe& recipe, std::span<const RandomCell> others, std::size_t number)
      : net_(&net), recipe_(&recipe), others_(others) {
    CellOptions options;
    for (std::size_t i = 0; i < inputs(); ++i)
      if ((recipe.outer >> i & 1U) != 0) options.outer.push_back(i);
    core_ = std::make_shared<const cells::Core>("cell" + std::to_string(number), options);
  }

  std::size_t inputs() const { return recipe_->input_count(); }
  /// Whether result k is a node that the function makes for this alone. A value that is given twice, or a view that is
  /// used within, is one node of the expansion, with one gradient, and another of a cell.
  bool makes(std::size_t k) const {
    return k < recipe_->gives.size() && recipe_->gives[k] % CellBody::kForms < CellBody::kNewForms;
  }

  std::vector<Expr> operator()(std::span<const Operand> operands) const {
    ExprList results;
    core_->record(operands, {this, &call}, results);
    return {results.begin(), results.end()};
  }

 private:
  static void call(const void* object, std::span<const Expr> inputs, ExprList& results) {
    const auto& self = *static_cast<const RandomCell*>(object);
    CellBody body(*self.net_, self.others_, inputs);
    for (const Move& move : self.recipe_->moves) body.add(move);
    for (std::size_t k = 0; k < self.recipe_->result_count(); ++k)
      results.push_back(body.result(k < self.recipe_->gives.size() ? self.recipe_->gives[k] : 7));
  }

  const CellNet* net_;
  const CellRecipe* recipe_;
  std::span<const RandomCell> others_;
  std::shared_ptr<const cells::Core> core_;
};

/// A vector of the net's width made of a cell's result, or one that is too small.
inline Expr first_elements(const Expr& x, std::int32_t width) {
  if (x.shape() == Shape{width}) return x;
  const auto elements = static_cast<std::int32_t>(x.shape().elements());
  const Expr line = reshape(x, {elements});
  return elements > width ? slice(line, 0, width) : line;
}

inline void CellBody::nested(const Move& move) {
  if (others_.empty()) return map(move);
  const RandomCell& cell = others_[move.b % others_.size()];
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < cell.inputs(); ++i)
    operands.emplace_back(take(move.a + static_cast<std::uint32_t>(i) * move.c).x);
  for (const Expr& result : cell(operands)) {
    const Expr x = first_elements(result, n_);
    if (x.shape() == Shape{n_}) push(x, kLargest);
  }
}

}  // namespace espalier::testing
