/// A cell gives the numbers of its function, recorded op by op, whatever the function, and whatever is asked for in
/// whatever order.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/cells/random_cell.h"
#include "tests/exec/random_runs.h"
#include "tests/support/budget.h"
#include "tests/support/threads.h"

namespace espalier::testing {

/// Some cells, and instances that use them.
struct Scene {
  std::vector<CellRecipe> cells;
  std::vector<Move> uses;  // of an instance: those of the others are the same, or a part of them
  std::uint32_t choices = 0;

  /// Most are no multiple of a SIMD register; the largest has weights that are laid out.
  std::int32_t width() const {
    constexpr std::array<std::int32_t, 8> kWidth{5, 3, 8, 17, 5, 3, 8, 70};
    return kWidth[choices % kWidth.size()];
  }
  std::size_t instances() const {
    constexpr std::array<std::size_t, 8> kInstances{1, 2, 3, 5, 9, 20, 70, 130};
    const std::size_t most =
        width() > 17 ? 70 / std::max<std::size_t>(uses.size(), 1) + 1 : 400 / std::max<std::size_t>(uses.size(), 1) + 1;
    return std::min(kInstances[choices / 8 % kInstances.size()], most);
  }
  /// How many uses an instance has: some end early.
  std::size_t uses_of(std::size_t instance) const {
    return instance % 3 == 1 ? uses.size() - uses.size() / 3 : uses.size();
  }
};

inline void showValue(const Scene& scene, std::ostream& out) {
  out << "width " << scene.width() << ", " << scene.instances() << " instances, choices " << scene.choices << ", uses ";
  rc::show(scene.uses, out);
  for (const CellRecipe& cell : scene.cells) {
    out << "\n  cell of " << cell.input_count() << " inputs, outer " << (cell.outer & 15U) << ", moves ";
    rc::show(cell.moves, out);
    out << ", gives ";
    rc::show(cell.gives, out);
  }
}

}  // namespace espalier::testing

namespace rc {

template <>
struct Arbitrary<espalier::testing::Scene> {
  static Gen<espalier::testing::Scene> arbitrary() {
    using espalier::testing::CellRecipe;
    using espalier::testing::Move;
    using espalier::testing::Scene;
    const auto number = gen::inRange<std::uint32_t>(0, 1U << 16);
    const auto move = gen::build<Move>(gen::set(&Move::what, number), gen::set(&Move::a, number),
                                       gen::set(&Move::b, number), gen::set(&Move::c, number));
    const auto moves = [&](int most) { return gen::resize(most, gen::container<std::vector<Move>>(move)); };
    const auto cell = gen::build<CellRecipe>(
        gen::set(&CellRecipe::inputs, number), gen::set(&CellRecipe::outer, number),
        gen::set(&CellRecipe::moves, moves(12)),
        gen::set(&CellRecipe::gives, gen::resize(4, gen::container<std::vector<std::uint32_t>>(number))));
    return gen::build<Scene>(
        gen::set(&Scene::cells, gen::nonEmpty(gen::resize(3, gen::container<std::vector<CellRecipe>>(cell)))),
        gen::set(&Scene::uses, gen::nonEmpty(moves(10))), gen::set(&Scene::choices, number));
  }
};

}  // namespace rc

namespace espalier {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the tests are about these

/// What was recorded.
struct Recorded {
  Expr loss;
  std::vector<Expr> losses;   // one an instance
  std::vector<Expr> inputs;   // leaves
  std::vector<Expr> results;  // of cells
  std::vector<Expr> own;      // of these, those that are made for this alone
};

class SceneRecorder {
 public:
  SceneRecorder(Graph& graph, const CellNet& net, const Scene& scene)
      : graph_(graph), net_(net), scene_(scene), n_(net.width) {
    cells_.reserve(scene.cells.size());
    for (const CellRecipe& recipe : scene.cells) cells_.emplace_back(net, recipe, std::span(cells_), cells_.size());
  }

  Recorded record(const Midway& midway) {
    for (std::size_t i = 0; i < scene_.instances(); ++i) {
      graph_.begin_instance();
      pool_.clear();
      add_leaf(static_cast<std::uint32_t>(i));
      for (std::size_t u = 0; u < scene_.uses_of(i); ++u) {
        use(scene_.uses[u], static_cast<std::uint32_t>(i));
        if (midway) midway(pool_.back().x);
      }
      add_loss(i);
    }
    recorded_.loss = sum(recorded_.losses);
    return std::move(recorded_);
  }

 private:
  struct Item {
    Expr x;
    bool used = false;
  };

  Expr take(std::uint32_t number) {
    Item& item = pool_[number % pool_.size()];
    item.used = true;
    return item.x;
  }
  void add_leaf(std::uint32_t number) {
    Tensor values({n_});
    for (std::int64_t i = 0; i < n_; ++i)
      values.set(i, static_cast<double>((number * 7 + static_cast<std::uint32_t>(i * i) * 5U) % 11U) / 4 - 1.25);
    recorded_.inputs.push_back(graph_.input(values));
    pool_.push_back({recorded_.inputs.back()});
  }

  void use(const Move& move, std::uint32_t instance) {
    switch (move.what % 10) {
      case 0: return add_leaf(move.a + instance);
      case 1:
        pool_.push_back(
            {lookup(graph_, *net_.table, static_cast<std::int32_t>((move.a + instance) % RandomNet::kRows))});
        return;
      case 2: pool_.push_back({tanh(take(move.a)) * take(move.b)}); return;
      case 3: pool_.push_back({slice(concat({take(move.a), take(move.b)}), 1, 1 + n_)}); return;
      default: break;
    }
    const RandomCell& cell = cells_[move.what / 10 % cells_.size()];
    std::vector<Operand> operands;
    for (std::size_t k = 0; k < cell.inputs(); ++k) {
      const auto i = static_cast<std::uint32_t>(k);
      // Some inputs behind the first are one tensor for all uses.
      const std::uint32_t shared = (move.c + i) % 12;
      if (k > 0 && shared == 0)
        operands.emplace_back(net_.b);
      else if (k > 0 && shared == 1)
        operands.emplace_back(tanh(graph_.parameter(*net_.gain)));
      else
        operands.emplace_back(take(move.a + i * move.b));
    }
    const std::vector<Expr> results = cell(operands);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Expr& result = results[k];
      recorded_.results.push_back(result);
      if (cell.makes(k)) recorded_.own.push_back(result);
      const Expr x = first_elements(result, n_);
      if (x.shape() == Shape{n_})
        pool_.push_back({x});
      else
        terms_.push_back(sum_elements(tanh(result)));
    }
  }

  /// Results that nobody used count here, or not at all.
  void add_loss(std::size_t instance) {
    std::vector<Expr> ends{pool_.back().x};
    for (std::size_t i = 0; i < pool_.size(); ++i)
      if (!pool_[i].used && (i + instance) % 4 != 0) ends.push_back(pool_[i].x);
    terms_.push_back(
        cross_entropy(linear(mean(ends), *net_.classify), static_cast<std::int32_t>(instance % RandomNet::kLabels)));
    recorded_.losses.push_back(sum(terms_));
    terms_.clear();
  }

  Graph& graph_;
  const CellNet& net_;
  const Scene& scene_;
  std::int32_t n_;
  std::vector<RandomCell> cells_;
  std::vector<Item> pool_;
  std::vector<Expr> terms_;
  Recorded recorded_;
};

Recorded record(Graph& graph, const CellNet& net, const Scene& scene, const Midway& midway = {}) {
  return SceneRecorder(graph, net, scene).record(midway);
}

void add_values(Outcome& outcome, const std::vector<Expr>& list) {
  for (const Expr& x : list) outcome.values.push_back(x.value());
}
/// As "input 3" and not by the number of the node, which differs between ways of recording.
void add_gradients_of(Outcome& outcome, const std::string& what, const std::vector<Expr>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    outcome.what.push_back(what + " " + std::to_string(i));
    outcome.gradients.push_back(wanted[i].grad());
  }
}

using Script = std::function<Outcome(CellNet&, Graph&, const Scene&, std::uint32_t draw)>;

std::string way_of(const GraphOptions& options) {
  return text_of(options) + (options.expand_cells ? ", expanded" : ", as cells");
}

/// Cells batched, cells one by one, and their ops one by one, against the twin.
void expect_all_ways_agree(int share, const Script& script, bool training = true) {
  EXPECT_TRUE(holds(share, [&](const Scene& scene, std::uint32_t draw) {
    const testing::Threads threads(1 + static_cast<int>(choice(draw, 90, 2)));
    const auto run = [&](GraphOptions options) {
      options.seed = 3;
      options.step = 0;
      options.training = training;
      CellNet net(kNetSeed, scene.width());
      Graph graph(options);
      Outcome outcome = script(net, graph, scene, draw);
      if (options.execution == Execution::kKernels) expect_sound(graph.statistics(), way_of(options));
      outcome.table_rows.clear();  // a cell gives every input a gradient, be it zero
      return outcome;
    };
    const Outcome expected = run({.execution = Execution::kPlain});
    const auto memoise = [&](std::uint32_t i) { return kMemoise[choice(draw, 91 + i, 3)]; };
    for (const GraphOptions& options :
         {GraphOptions{.memoise = memoise(0)}, GraphOptions{.strategy = Strategy::kNone, .memoise = memoise(1)},
          GraphOptions{.memoise = memoise(2), .expand_cells = true}})
      expect_close(run(options), expected, kFloatTolerance, way_of(options));
  }));
}

Outcome backward_at_once(CellNet& net, Graph& graph, const Scene& scene, std::uint32_t draw) {
  const Recorded recorded = record(graph, net, scene);
  std::vector<Expr> wanted;
  if (choice(draw, 1, 2) == 0) wanted = recorded.inputs;
  if (choice(draw, 2, 4) == 0)
    for (std::uint32_t i = 0; i < 3 && !recorded.own.empty(); ++i)
      wanted.push_back(recorded.own[choice(draw, 10 + i, static_cast<std::uint32_t>(recorded.own.size()))]);
  if (choice(draw, 3, 3) == 0 && !recorded.results.empty()) graph.keep(recorded.results[0]);
  Gradients gradients;
  recorded.loss.backward({.into = &gradients, .wanted = wanted});
  Outcome outcome;
  add_gradients(outcome, net, gradients);
  add_gradients_of(outcome, "wanted", wanted);
  outcome.values.push_back(recorded.loss.value());
  add_values(outcome, recorded.results);
  return outcome;
}

TEST(RandomCells, BackwardAtOnce) { expect_all_ways_agree(400, backward_at_once); }

TEST(RandomCells, ValuesReadWhileTheGraphIsRecorded) {
  expect_all_ways_agree(200, [](CellNet& net, Graph& graph, const Scene& scene, std::uint32_t draw) {
    Outcome outcome;
    std::uint32_t moves = 0;
    const std::uint32_t one_in = 1 + choice(draw, 60, 12);
    const Recorded recorded = record(graph, net, scene, [&](const Expr& newest) {
      if (choice(draw, 1000 + moves++, one_in) == 0) outcome.values.push_back(newest.value());
    });
    Gradients gradients;
    recorded.loss.backward({.into = &gradients, .wanted = recorded.inputs});
    add_gradients(outcome, net, gradients);
    add_gradients_of(outcome, "input", recorded.inputs);
    add_values(outcome, recorded.results);
    return outcome;
  });
}

TEST(RandomCells, SeveralLossesInOneGraph) {
  expect_all_ways_agree(150, [](CellNet& net, Graph& graph, const Scene& scene, std::uint32_t draw) {
    const Recorded recorded = record(graph, net, scene);
    Outcome outcome;
    Gradients gradients;
    const std::size_t some = std::min<std::size_t>(recorded.losses.size(), 3);
    for (std::size_t i = 0; i < some; ++i)
      recorded.losses[i].backward({.into = &gradients, .wanted = {recorded.inputs[0]}});
    add_gradients_of(outcome, "input of the last", {recorded.inputs[0]});
    if (choice(draw, 70, 2) == 0) add_values(outcome, recorded.results);
    recorded.loss.backward({.into = &gradients, .wanted = recorded.inputs});
    recorded.loss.backward({.into = &gradients, .wanted = recorded.inputs});
    add_gradients(outcome, net, gradients);
    add_gradients_of(outcome, "input", recorded.inputs);
    outcome.values.push_back(recorded.loss.value());
    return outcome;
  });
}

TEST(RandomCells, FinishedGraphs) {
  const Script script = [](CellNet& net, Graph& graph, const Scene& scene, std::uint32_t draw) {
    const Recorded recorded = record(graph, net, scene);
    Outcome outcome;
    std::vector<Expr> outputs = recorded.losses;
    for (std::uint32_t i = 0; i < 3 && !recorded.results.empty(); ++i)
      outputs.push_back(recorded.results[choice(draw, 10 + i, static_cast<std::uint32_t>(recorded.results.size()))]);
    if (choice(draw, 80, 3) == 0) outputs[0].value();
    graph.finish(outputs);
    add_values(outcome, outputs);
    for (std::size_t i = 0; i < recorded.results.size(); i += 1 + recorded.results.size() / 3)
      outcome.values.push_back(recorded.results[i].value());  // what was freed is computed again
    return outcome;
  };
  expect_all_ways_agree(150, script, /*training=*/true);
  expect_all_ways_agree(150, script, /*training=*/false);
}

TEST(RandomCells, ClearedGraphsAreUsedAgain) {
  expect_all_ways_agree(100, [](CellNet& net, Graph& graph, const Scene& scene, std::uint32_t draw) {
    Scene other = scene;
    other.uses.resize(1);
    for (int round = 0; round < 2; ++round) {
      Gradients unread;
      const Recorded recorded = record(graph, net, round == 0 ? other : scene);
      if (choice(draw, 66, 2) == 0) recorded.loss.backward({.into = &unread, .wanted = {}});
      if (choice(draw, 67, 2) == 0) graph.finish({recorded.loss});
      graph.clear();
    }
    return backward_at_once(net, graph, scene, draw);
  });
}

TEST(RandomCells, MemoryBudgets) {
  int divided = 0;
  EXPECT_TRUE(holds(250, [&](const Scene& scene, std::uint32_t draw) {
    CellNet net(kNetSeed, scene.width());
    const auto run = [&](const GraphOptions& options, Statistics* statistics) {
      Graph graph(options);
      const Recorded recorded = record(graph, net, scene);
      Gradients gradients;
      recorded.loss.backward({.into = &gradients, .wanted = {}});
      *statistics = graph.statistics();
      Outcome outcome;
      add_gradients(outcome, net, gradients);
      outcome.values.push_back(recorded.loss.value());
      return outcome;
    };
    Statistics statistics;
    GraphOptions options{.seed = 3, .step = 0, .memoise = kMemoise[choice(draw, 91, 3)]};
    const Outcome expected = run(options, &statistics);
    options.memory_budget = testing::budget_of(statistics, 100 / (2 + choice(draw, 92, 3)));
    try {
      const Outcome given = run(options, &statistics);
      RC_ASSERT(statistics.peak_bytes <= options.memory_budget);
      if (statistics.parts > 1) ++divided;
      expect_close(given, expected, kFloatTolerance, "in parts");
    } catch (const ResourceError&) {
      // An instance alone may be too large.
    }
  }));
  EXPECT_GT(divided, 0);
}

/// The generator must reach what it promises.
TEST(RandomCells, AreCompiledMostly) {
  setenv("RC_PARAMS", "seed=1", 0);
  int cells = 0;
  int scenes = 0;
  int projections = 0;
  holds(200, [&](const Scene& scene) {
    CellNet net(kNetSeed, scene.width());
    Graph graph;
    record(graph, net, scene);
    ++scenes;
    bool any = false;
    bool outer = false;
    for (std::int32_t i = 0; i < graph.size(); ++i) {
      const OpInfo& info = *graph.signature(NodeId{i}).info;
      any |= info.kind == Kind::kCell;
      outer |= info.kind == Kind::kCell && info.name.ends_with(".outer");
    }
    cells += any ? 1 : 0;
    projections += outer ? 1 : 0;
  });
  EXPECT_GE(cells, scenes / 2);
  EXPECT_GE(projections, scenes / 10);
}

}  // namespace
}  // namespace espalier
