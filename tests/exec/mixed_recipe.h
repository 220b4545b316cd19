/// Recipes of graphs that mix everything a user can record: plain ops, cells of several results, nodes of many rows,
/// recursions, layers. Any list of numbers is a legal recipe, so that a generator may draw and shrink it freely.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/cells/recursion.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "tests/cells/random_cell.h"
#include "tests/exec/random_runs.h"

namespace espalier::testing {

/// The function of one kind of rows of a recursion.
struct KindRecipe {
  std::uint32_t form = 0;
  std::vector<Move> moves;  // of a random function

  std::int32_t children() const { return static_cast<std::int32_t>(form % 4); }
  /// A function of nothing is no function of rows.
  bool takes_x() const { return children() == 0 || form / 4 % 4 != 0; }
  /// Gates of x plus gates of each child, as in an LSTM, instead of a random function.
  bool gated() const { return form / 16 % 2 == 0; }
};

struct RecursionRecipe {
  std::uint32_t parts = 0;  // of a state: one to three
  std::vector<KindRecipe> kinds;

  std::size_t part_count() const { return 1 + parts % 3; }
  bool has_leaves() const {
    return std::any_of(kinds.begin(), kinds.end(), [](const KindRecipe& kind) { return kind.children() == 0; });
  }
};

struct MixedRecipe {
  Recipe plan;
  std::vector<CellRecipe> cells;
  std::vector<RecursionRecipe> recursions;

  /// Most are no multiple of a SIMD register; weights of the largest are laid out before they are multiplied.
  std::int32_t width() const {
    constexpr std::array<std::int32_t, 32> kWidth{5, 3, 8, 5, 3, 4, 5, 17, 3, 5, 8, 4, 3, 5, 4, 16,
                                                  5, 3, 8, 5, 3, 4, 5, 17, 3, 5, 8, 4, 3, 5, 4, 70};
    return kWidth[plan.choices % kWidth.size()];
  }
  bool is_wide() const { return width() > 17; }
  /// Instances are what was drawn, or, so that much runs together, many like the first.
  std::size_t instances() const {
    const std::size_t drawn = plan.instances.size();
    return plan.choices / 32 % 8 == 7 && !is_wide() ? drawn + 20 / (1 + plan.instances[0].size()) : drawn;
  }
  std::span<const Move> moves_of(std::size_t instance) const {
    const std::span<const Move> moves = plan.moves_of(instance < plan.instances.size() ? instance : 0);
    return moves.first(std::min<std::size_t>(moves.size(), is_wide() ? 5 : moves.size()));
  }
};

inline void showValue(const CellRecipe& cell, std::ostream& out) {
  out << "\n  cell of " << cell.input_count() << " inputs, outer " << (cell.outer & 15U) << ", moves ";
  rc::show(cell.moves, out);
  out << ", gives ";
  rc::show(cell.gives, out);
}
inline void showValue(const KindRecipe& kind, std::ostream& out) {
  out << "\n    kind of " << kind.children() << " children" << (kind.takes_x() ? " and x" : "")
      << (kind.gated() ? ", gated" : "") << ", form " << kind.form << ", moves ";
  rc::show(kind.moves, out);
}
inline void showValue(const RecursionRecipe& recursion, std::ostream& out) {
  out << "\n  recursion of " << recursion.part_count() << " parts ";
  rc::show(recursion.kinds, out);
}
inline void showValue(const MixedRecipe& recipe, std::ostream& out) {
  out << "width " << recipe.width() << ", " << recipe.instances() << " instances, ";
  rc::show(recipe.plan, out);
  rc::show(recipe.cells, out);
  rc::show(recipe.recursions, out);
}

/// Small numbers from one, the same everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint32_t bound) { return choice(seed_, next_++, bound); }
  std::int32_t index(std::int32_t bound) { return static_cast<std::int32_t>(below(static_cast<std::uint32_t>(bound))); }

 private:
  std::uint32_t seed_;
  std::uint32_t next_ = 0;
};

/// The parameters of mixed graphs.
struct MixedNet : CellNet {
  MixedNet(std::uint64_t seed, DType dtype, std::int32_t of_width) : CellNet(seed, of_width) {
    const auto small = init::uniform(-0.4, 0.4);
    of_x = &model.add("of_x", {width, 3 * width}, small);
    of_x_b = &model.add("of_x_b", {3 * width}, small);
    for (Parameter*& each : of_child) {
      each = &model.add("of_child" + std::to_string(&each - of_child.data()), {width, 3 * width}, small);
    }
    model.to(dtype);
  }

  Parameter* of_x;
  Parameter* of_x_b;
  std::array<Parameter*, 3> of_child{};
  nn::LstmCell lstm{model / "lstm", width, width};
  nn::BinaryTreeLstm tree{model / "tree", width, width};
  std::uint64_t derived_uid = new_uid();
};

}  // namespace espalier::testing

namespace rc {

template <>
struct Arbitrary<espalier::testing::MixedRecipe> {
  static Gen<espalier::testing::MixedRecipe> arbitrary() {
    using espalier::testing::CellRecipe;
    using espalier::testing::KindRecipe;
    using espalier::testing::MixedRecipe;
    using espalier::testing::Move;
    using espalier::testing::Recipe;
    using espalier::testing::RecursionRecipe;
    using espalier::testing::Topology;
    const auto number = gen::inRange<std::uint32_t>(0, 1U << 16);
    const auto move = gen::build<Move>(gen::set(&Move::what, number), gen::set(&Move::a, number),
                                       gen::set(&Move::b, number), gen::set(&Move::c, number));
    const auto moves = [&](int most) { return gen::resize(most, gen::container<std::vector<Move>>(move)); };
    const auto cell = gen::build<CellRecipe>(
        gen::set(&CellRecipe::inputs, number), gen::set(&CellRecipe::outer, number),
        gen::set(&CellRecipe::moves, moves(8)),
        gen::set(&CellRecipe::gives, gen::resize(4, gen::container<std::vector<std::uint32_t>>(number))));
    const auto kind =
        gen::build<KindRecipe>(gen::set(&KindRecipe::form, number), gen::set(&KindRecipe::moves, moves(6)));
    const auto recursion = gen::build<RecursionRecipe>(
        gen::set(&RecursionRecipe::parts, number),
        gen::set(&RecursionRecipe::kinds,
                 gen::nonEmpty(gen::resize(4, gen::container<std::vector<KindRecipe>>(kind)))));
    const auto plan = gen::build<Recipe>(
        gen::set(&Recipe::topology,
                 gen::map(gen::inRange<std::uint32_t>(0, 4), [](std::uint32_t n) { return Topology{n}; })),
        gen::set(&Recipe::instances,
                 gen::nonEmpty(gen::resize(5, gen::container<std::vector<std::vector<Move>>>(moves(14))))),
        gen::set(&Recipe::choices, number));
    return gen::build<MixedRecipe>(
        gen::set(&MixedRecipe::plan, plan),
        gen::set(&MixedRecipe::cells, gen::nonEmpty(gen::resize(3, gen::container<std::vector<CellRecipe>>(cell)))),
        gen::set(&MixedRecipe::recursions,
                 gen::nonEmpty(gen::resize(3, gen::container<std::vector<RecursionRecipe>>(recursion)))));
  }
};

}  // namespace rc
