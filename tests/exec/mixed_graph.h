/// Records mixed recipes: the same Exprs in the same order, whatever the way of recording and computing.
///
/// Single rows and nodes of many rows are kept in two pools, from which each move takes its operands. All are vectors
/// of the net's width. As in random_graph.h, ops with kinks see numbers on a grid, and what grows is squashed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/exec/mixed_recipe.h"

namespace espalier::testing {

/// The functions of a recipe: made once, and used by all graphs that record it.
class MixedFunctions {
 public:
  MixedFunctions(const MixedNet& net, const MixedRecipe& recipe) : net_(net), recipe_(recipe) {
    cells_.reserve(recipe.cells.size());
    for (const CellRecipe& cell : recipe.cells) cells_.emplace_back(net, cell, std::span(cells_), cells_.size());
    for (const RecursionRecipe& recursion : recipe.recursions) recursions_.push_back(make(recursion));
  }
  MixedFunctions(const MixedFunctions&) = delete;
  MixedFunctions& operator=(const MixedFunctions&) = delete;

  std::span<const RandomCell> cells() const { return cells_; }
  const Recursion& recursion(std::size_t number) const { return recursions_[number]; }

 private:
  Recursion make(const RecursionRecipe& recipe) const {
    const std::size_t parts = recipe.part_count();
    const auto kinds = [&]<std::size_t n>(std::integral_constant<std::size_t, n>) {
      std::vector<RecursionKind> list;
      for (const KindRecipe& kind : recipe.kinds)
        list.emplace_back(
            "kind " + std::to_string(list.size()), kind.children(),
            [this, &kind](std::span<const Expr> in) {
              std::array<Expr, n> state;
              give_state(kind, in, state);
              return state;
            },
            kind.takes_x() ? TakesX::kYes : TakesX::kNo);
      return list;
    };
    const std::vector<Shape> state(parts, Shape{net_.width});
    if (parts == 1) return {"random", kinds(std::integral_constant<std::size_t, 1>()), state};
    if (parts == 2) return {"random", kinds(std::integral_constant<std::size_t, 2>()), state};
    return {"random", kinds(std::integral_constant<std::size_t, 3>()), state};
  }

  void give_state(const KindRecipe& kind, std::span<const Expr> in, std::span<Expr> state) const {
    if (kind.gated()) return give_gated_state(kind, in, state);
    CellBody body(net_, cells_, in);
    for (const Move& move : kind.moves) body.add(move);
    // The newest, halved so that long paths do not explode; then others of the function, or what it was given.
    state[0] = tanh(body.newest() * 0.5);
    for (std::size_t p = 1; p < state.size(); ++p)
      state[p] =
          body.result(CellBody::kForms * (kind.form / 32 + static_cast<std::uint32_t>(p)) + CellBody::kForms - 1);
  }

  void give_gated_state(const KindRecipe& kind, std::span<const Expr> in, std::span<Expr> state) const {
    const std::int32_t n = net_.width;
    const std::size_t parts = state.size();
    const std::size_t first = kind.takes_x() ? 1 : 0;
    const auto children = static_cast<std::size_t>(kind.children());
    Expr gates;
    if (kind.takes_x()) gates = affine(in[0], *net_.of_x, *net_.of_x_b);
    for (std::size_t c = 0; c < children; ++c) {
      const Expr of_child = linear(in[first + c * parts], *net_.of_child[c]);
      gates = c == 0 && !kind.takes_x() ? of_child + *net_.of_x_b : gates + of_child;
    }
    const auto gate = [&](std::int32_t k) { return slice(gates, k * n, (k + 1) * n); };
    std::vector<Expr> memory{gate(0), gate(1)};
    for (std::size_t c = 0; c < children; ++c) {
      memory.push_back(gate(c % 2 == 0 ? 0 : 2));
      memory.push_back(in[first + c * parts + (parts > 1 ? 1 : 0)]);
    }
    const Expr c = kind.form / 32 % 2 == 0 ? lstm_memory(memory) * 0.5 : tanh(gate(1)) * sigmoid(gate(0));
    state[0] = kind.form / 64 % 2 == 0 ? lstm_output(gate(2), c) : sigmoid(gate(2)) * c;
    if (parts > 1) state[1] = c;
    if (parts > 2) state[2] = state[0] * c;
  }

  const MixedNet& net_;
  const MixedRecipe& recipe_;
  std::vector<RandomCell> cells_;
  std::vector<Recursion> recursions_;
};

/// What was recorded.
struct MixedGraph {
  Expr loss;
  std::vector<Expr> losses;   // one an instance
  std::vector<Expr> inputs;   // leaves, single or of many rows
  std::vector<Expr> results;  // whatever was made, and what a cell or a recursion gave besides
  std::vector<Expr> own;      // of these, those that are a node of their own in every way of recording
};

/// How much of what a recipe can reach was reached.
struct MixedCounts {
  int missing_children = 0;
  int equal_rows = 0;
};

class MixedRecorder {
 public:
  MixedRecorder(Graph& graph, const MixedNet& net, const MixedRecipe& recipe, const MixedFunctions& functions,
                Midway midway = {})
      : graph_(graph), net_(net), recipe_(recipe), functions_(functions), midway_(std::move(midway)) {}

  MixedGraph record() {
    for (std::size_t i = 0; i < recipe_.instances(); ++i) {
      graph_.begin_instance(i);
      record_instance(i);
    }
    recorded_.loss = total(recipe_.plan, recorded_.losses);
    return std::move(recorded_);
  }
  /// One instance, which was begun.
  void record_instance(std::size_t i) {
    singles_.clear();
    manys_.clear();
    terms_.clear();
    first_unused_ = 0;
    number_ = static_cast<std::uint32_t>(i);
    add_lookup(number_);
    for (const Move& move : recipe_.moves_of(i)) {
      step(move);
      if (midway_) midway_(recorded_.results.back());
    }
    add_loss();
  }
  /// So far.
  const MixedGraph& recorded() const { return recorded_; }

  const MixedCounts& counts() const { return counts_; }

 private:
  struct Item {
    Expr x;
    bool grid = false;
    bool used = false;
  };

  // --- operands ------------------------------------------------------------------------------------------------------

  void push(const Expr& x, bool grid = false) {
    (x.has_many_rows() ? manys_ : singles_).push_back({x, grid});
    recorded_.results.push_back(x);
  }

  Item take(std::uint32_t number) {
    std::size_t at = singles_.size() - 1;
    switch (recipe_.plan.topology) {
      case Topology::kChain: break;
      case Topology::kTree:
        while (first_unused_ < singles_.size() && singles_[first_unused_].used) ++first_unused_;
        if (first_unused_ == singles_.size()) add_leaf(number);
        at = first_unused_;
        break;
      case Topology::kLattice: at -= std::min<std::size_t>(number % 3, at); break;
      case Topology::kDag: at = number % singles_.size(); break;
    }
    singles_[at].used = true;
    return singles_[at];
  }

  Item take_many(std::uint32_t number) {
    if (manys_.empty() && number % 2 == 0) add_leaf_rows({0, number, number, number});
    if (manys_.empty()) add_lookups({0, number, number, number});
    std::size_t at = manys_.size() - 1;
    if (recipe_.plan.topology == Topology::kDag) at = number % manys_.size();
    if (recipe_.plan.topology == Topology::kLattice) at -= std::min<std::size_t>(number % 3, at);
    manys_[at].used = true;
    return manys_[at];
  }
  /// One with as many rows.
  Expr take_like(const Expr& x, std::uint32_t number) {
    std::vector<std::size_t> like;
    for (std::size_t i = 0; i < manys_.size(); ++i)
      if (manys_[i].x.row_count() == x.row_count()) like.push_back(i);
    const std::size_t at = like[number % like.size()];
    manys_[at].used = true;
    return manys_[at].x;
  }

  // --- moves ---------------------------------------------------------------------------------------------------------

  void step(const Move& move) {
    const Move inner{move.what / kGroups, move.a, move.b, move.c};
    switch (move.what % kGroups) {
      case 0: return add_leaf(move.c + number_);
      case 1: return add_lookup(move.c % 3 + number_ % 2);
      case 2: return plain(inner);
      case 3:
      case 4: return use_cell(inner);
      case 5: return use_layer(inner);
      case 6: return add_leaf_rows(move);
      case 7: return add_lookups(move);
      case 8: return gather(inner);
      case 9: return one_row(inner);
      case 10: return join(inner);
      case 11: return plain_of_rows(inner);
      case 12: return use_cell_of_rows(inner);
      case 13: return reduce(inner);
      case 14: return losses_of_rows(inner);
      default: return recurse(inner);
    }
  }

  void add_leaf(std::uint32_t number) {
    Tensor values({n_}, graph_.options().dtype);
    for (std::int64_t i = 0; i < n_; ++i)
      values.set(i, static_cast<double>((number + static_cast<std::uint32_t>(i * i) * 5U) % 11U) / 4 - 1.25);
    recorded_.inputs.push_back(graph_.input(values));
    push(recorded_.inputs.back(), true);
  }

  void add_lookup(std::uint32_t number) {
    push(lookup(graph_, *net_.table, static_cast<std::int32_t>(number % RandomNet::kRows)), true);
  }

  std::int32_t row_count(std::uint32_t number) const {
    constexpr std::array<std::int32_t, 16> kCounts{3, 1, 2, 5, 4, 1, 2, 8, 6, 3, 2, 4, 7, 1, 2, 67};
    const std::int32_t count = kCounts[number % kCounts.size()];
    return n_ > 8 ? std::min(count, 9) : count;
  }

  void add_leaf_rows(const Move& move) {
    const std::int32_t count = row_count(move.a + number_);
    std::vector<float> numbers;
    for (std::int32_t i = 0; i < count * n_; ++i)
      numbers.push_back(static_cast<float>((move.c + static_cast<std::uint32_t>(i * i + 3 * i)) % 11U) / 4 - 1.25F);
    recorded_.inputs.push_back(graph_.rows({n_}, numbers));
    push(recorded_.inputs.back(), true);
  }

  void add_lookups(const Move& move) {
    Numbers random(move.c);
    std::vector<std::int32_t> ids;
    const std::int32_t words = move.b % 3 == 0 ? 2 : RandomNet::kRows;  // many equal ones, or a few
    for (std::int32_t left = row_count(move.a + number_); left > 0; --left) ids.push_back(random.index(words));
    std::vector<std::int32_t> distinct = ids;
    std::sort(distinct.begin(), distinct.end());
    if (std::adjacent_find(distinct.begin(), distinct.end()) != distinct.end()) ++counts_.equal_rows;
    push(lookup_rows(graph_, *net_.table, ids), true);
  }

  /// Any op of a random function.
  void plain(const Move& move) {
    const std::array in{take(move.a).x, take(move.b).x, take(move.c).x};
    if (move.what / 13 % 4 == 3) return push(tanh(affine(in[0], derived_weights(), *net_.b)));
    CellBody body(net_, functions_.cells(), in);
    body.add(move);
    push(body.newest());
  }

  void plain_of_rows(const Move& move) {
    const Expr x = take_many(move.a).x;
    const std::array in{x, take_like(x, move.b), take_like(x, move.c)};
    if (move.what / 13 % 4 == 3) return push(tanh(affine(in[0], derived_weights(), *net_.b)));
    CellBody body(net_, functions_.cells(), in);
    body.add(without_lists(move));
    push(body.newest());
  }

  /// A move like this one that uses no list: outside a cell, sum() of a list takes all rows of its operands at once.
  static Move without_lists(Move move) {
    const std::uint32_t group = move.what % 13;
    if (group == 7 || group == 10) ++move.what;
    if (group == 9 && move.b % 8 == 5) ++move.b;
    if (group == 4 && move.b % 8 == 6) ++move.b;
    if (group == 2 && (move.a + move.b + move.c) % 7 == 5) ++move.a;
    return move;
  }

  Expr derived_weights() {
    return graph_.derived(net_.derived_uid, [&](Graph& graph) { return tanh(graph.parameter(*net_.W)); });
  }

  /// Other operands than the first may be one tensor for all uses.
  template <class Take>
  void use_cell(const Move& move, const Take& take_operand) {
    const RandomCell& cell = functions_.cells()[move.what % functions_.cells().size()];
    std::vector<Operand> operands;
    for (std::size_t k = 0; k < cell.inputs(); ++k) {
      const auto i = static_cast<std::uint32_t>(k);
      const std::uint32_t shared = (move.c + i) % 12;
      if (k > 0 && shared == 0)
        operands.emplace_back(net_.b);
      else if (k > 0 && shared == 1)
        operands.emplace_back(tanh(graph_.parameter(*net_.gain)));
      else
        operands.emplace_back(take_operand(move.a + i * move.b));
    }
    const std::vector<Expr> results = cell(operands);
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (cell.makes(k)) recorded_.own.push_back(results[k]);
      const Expr x = first_elements(results[k], n_);
      if (x.shape() == Shape{n_}) {
        if (x.node() != results[k].node()) recorded_.results.push_back(results[k]);
        push(x);
      } else {
        recorded_.results.push_back(results[k]);
        if (move.c % 3 != 0) terms_.push_back(single(sum_elements(tanh(results[k]))));
      }
    }
  }
  void use_cell(const Move& move) {
    use_cell(move, [&](std::uint32_t number) { return take(number).x; });
  }
  void use_cell_of_rows(const Move& move) {
    const Expr first = take_many(move.a).x;
    use_cell(move, [&](std::uint32_t number) { return number == move.a ? first : take_like(first, number); });
  }

  void use_layer(const Move& move) {
    switch (move.what % 3) {
      case 0: {  // a sequence from zeros, or from a state
        nn::LstmState state = net_.lstm.initial(graph_);
        if (move.b % 3 == 1) state = {take(move.b).x, take(move.c).x};
        for (std::uint32_t t = 0; t <= move.c % 3; ++t) state = net_.lstm(take(move.a + t).x, state);
        push(state.h);
        return push(state.c);
      }
      case 1: {
        const nn::TreeState left = net_.tree.leaf(take(move.a).x);
        const nn::TreeState right = move.c % 4 == 0 ? nn::TreeState{} : net_.tree.leaf(take(move.b).x);
        const nn::TreeState both = net_.tree(left, right);
        push(both.h);
        const nn::TreeState more = net_.tree(both, left);
        push(more.c);
        return push(more.h);
      }
      default: {
        const nn::LstmState states = net_.lstm.rows(take_many(move.a).x, move.b % 2 == 0);
        push(states.h);
        return push(states.c);
      }
    }
  }

  void one_row(const Move& move) {
    const Expr x = take_many(move.a).x;
    push(row(x, static_cast<std::int32_t>(move.b % static_cast<std::uint32_t>(x.row_count()))));
    recorded_.own.push_back(recorded_.results.back());
  }

  /// Single rows and many, one behind the other.
  void gather(const Move& move) {
    std::vector<Expr> list;
    for (std::uint32_t i = 0; i <= move.c % 5; ++i)
      list.push_back((move.b + i) % 3 == 0 ? small_many(move.a + i) : take(move.a + i * move.b).x);
    push(rows(list));
  }
  /// Not the longest, so that what is put together again and again stays small.
  Expr small_many(std::uint32_t number) {
    const Expr x = take_many(number).x;
    return x.row_count() <= 16 ? x : row(x, 1);
  }

  /// Every two rows side by side.
  void join(const Move& move) {
    Expr x = take_many(move.a).x;
    if (x.row_count() % 2 == 1) x = rows({x, take(move.b).x});
    const Expr joined = join_rows(x, 2);
    recorded_.results.push_back(joined);
    if (move.c % 3 == 0) return push(slice(joined, 1, 1 + n_));
    push(tanh(affine(joined, *net_.filter, *net_.b)));
  }

  void reduce(const Move& move) {
    const Item x = take_many(move.a);
    switch (move.b % 5) {
      case 0: return push(tanh(sum({x.x}) * 0.25));
      case 1: return push(mean({x.x, take(move.c).x, take_many(move.c).x}));
      case 2: return x.grid ? push(max({x.x}), true) : push(mean({x.x}));
      case 3: return x.grid ? push(min({x.x, x.x}), true) : push(tanh(sum({x.x, x.x})));
      default: {  // a row behind all, where they are and as they are
        const Expr last = row(x.x, x.x.row_count() - 1);
        return push(tanh(last + mean({x.x})));
      }
    }
  }

  void losses_of_rows(const Move& move) {
    const Expr x = take_many(move.a).x;
    switch (move.b % 4) {
      case 0:
      case 1: {
        std::vector<std::int32_t> labels;
        for (std::int32_t r = 0; r < x.row_count(); ++r)
          labels.push_back(static_cast<std::int32_t>((move.c + static_cast<std::uint32_t>(r)) % RandomNet::kLabels));
        return add_row_losses(cross_entropy_rows(linear(x, *net_.classify), labels));
      }
      case 2: return add_row_losses(mse(x, take_like(x, move.c)));
      default: return add_row_losses(cross_entropy(linear(x, *net_.classify), 1));
    }
  }
  void add_row_losses(const Expr& losses) {
    recorded_.results.push_back(losses);
    terms_.push_back(mean({losses}));
  }

  void recurse(const Move& move) {
    const std::size_t number = move.what % recipe_.recursions.size();
    const RecursionRecipe& recursion = recipe_.recursions[number];
    const Expr x = take_many(move.a).x;
    const Structure structure = structure_of(recursion, x.row_count(), Numbers(move.b), move.c);
    const std::vector<Expr> states = functions_.recursion(number)(x, structure);
    // The gradient of a state that its function or a parent reads is not that of the rows that were put together.
    bool is_read = states.size() > 1;
    for (std::int32_t r = 0; r < structure.size(); ++r)
      for (const std::int32_t child : structure.children(r)) is_read = is_read || child != Structure::kMissing;
    for (const Expr& state : states) {
      push(state);
      if (!is_read) recorded_.own.push_back(state);
    }
  }

  /// A sequence, a tree or a DAG, whose children come first, last, or in any order.
  Structure structure_of(const RecursionRecipe& recursion, std::int32_t rows_of_x, Numbers random, std::uint32_t form) {
    enum class Form : std::uint32_t { kSequence, kTree, kDag };
    const auto shape = Form{form % 3};
    const std::int32_t size = 1 + random.index(n_ > 17 ? 5 : form / 3 % 8 == 0 ? 24 : 9);
    std::vector<std::int32_t> number(static_cast<std::size_t>(size));  // of rows, in the structure
    for (std::int32_t r = 0; r < size; ++r) number[static_cast<std::size_t>(r)] = r;
    if (form / 24 % 3 == 1) std::reverse(number.begin(), number.end());
    if (form / 24 % 3 == 2)
      for (std::int32_t r = size; r > 1; --r)
        std::swap(number[static_cast<std::size_t>(r - 1)], number[static_cast<std::size_t>(random.index(r))]);
    struct Row {
      std::int32_t kind = 0;
      std::vector<std::int32_t> children;
    };
    std::vector<Row> rows(number.size());
    std::vector<std::int32_t> height(number.size());
    std::vector<std::int32_t> free;
    for (std::int32_t r = 0; r < size; ++r) {
      Row& row = rows[static_cast<std::size_t>(number[static_cast<std::size_t>(r)])];
      row.kind = random.index(static_cast<std::int32_t>(recursion.kinds.size()));
      const KindRecipe& kind = recursion.kinds[static_cast<std::size_t>(row.kind)];
      for (std::int32_t c = 0; c < kind.children(); ++c) {
        std::int32_t child = Structure::kMissing;
        if (r > 0 && random.below(6) != 0) {
          if (shape == Form::kSequence) child = r - 1;
          if (shape == Form::kDag) child = random.index(r);
          if (shape == Form::kTree && !free.empty()) {
            child = free.back();
            free.pop_back();
          }
        }
        if (child != Structure::kMissing) {  // high towers of random functions are no test of rounding errors
          const std::int32_t below = height[static_cast<std::size_t>(child)] + 1;
          if (below > (kind.gated() ? 12 : 4))
            child = Structure::kMissing;
          else
            height[static_cast<std::size_t>(r)] = std::max(height[static_cast<std::size_t>(r)], below);
        }
        if (child == Structure::kMissing) ++counts_.missing_children;
        row.children.push_back(child == Structure::kMissing ? child : number[static_cast<std::size_t>(child)]);
      }
      free.push_back(r);
    }
    Structure structure;
    for (std::int32_t r = 0; r < size; ++r) {
      const Row& row = rows[static_cast<std::size_t>(r)];
      const bool takes_x = recursion.kinds[static_cast<std::size_t>(row.kind)].takes_x();
      const std::int32_t x = form % 2 == 0 ? r % rows_of_x : random.index(rows_of_x);
      structure.add(KindId{row.kind}, takes_x ? x : Structure::kNoX, row.children);
    }
    return structure;
  }

  // --- losses --------------------------------------------------------------------------------------------------------

  static Expr single(const Expr& x) { return x.has_many_rows() ? sum({x}) : x; }

  /// Most of what nobody used counts here; the rest has no gradient.
  void add_loss() {
    std::vector<Expr> ends{singles_.back().x};
    if (recipe_.plan.joint() && !context_.empty()) ends.push_back(context_[number_ % context_.size()]);
    for (const std::vector<Item>* pool : {&singles_, &manys_})
      for (std::size_t i = 0; i < pool->size(); ++i)
        if (const Item& item = (*pool)[i]; !item.used && (i + number_) % 4 != 0) ends.push_back(item.x);
    context_.push_back(manys_.empty() ? singles_.back().x : manys_.back().x);
    terms_.push_back(
        cross_entropy(linear(mean(ends), *net_.classify), static_cast<std::int32_t>(number_ % RandomNet::kLabels)));
    recorded_.losses.push_back(sum(terms_));
  }

  static constexpr std::uint32_t kGroups = 18;

  Graph& graph_;
  const MixedNet& net_;
  const MixedRecipe& recipe_;
  const MixedFunctions& functions_;
  Midway midway_;
  std::int32_t n_ = net_.width;
  std::uint32_t number_ = 0;  // of the instance
  std::vector<Item> singles_;
  std::size_t first_unused_ = 0;  // none before it; only trees count
  std::vector<Item> manys_;
  std::vector<Expr> context_;  // of the instances before
  std::vector<Expr> terms_;
  MixedGraph recorded_;
  MixedCounts counts_;
};

}  // namespace espalier::testing
