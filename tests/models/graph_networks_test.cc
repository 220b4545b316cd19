/// The networks over plans, molecules and lattices: against plain code, both forms against each other, and whether they
/// learn.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/graph/graph.h"
#include "espalier/models/lattice_net.h"
#include "espalier/models/molecule_net.h"
#include "espalier/models/plan_net.h"
#include "espalier/ops/all.h"
#include "tests/models/forms_agree.h"
#include "tests/models/learn.h"
#include "tests/models/random_instances.h"
#include "tests/support/refusal.h"

namespace espalier::models {
namespace {

using espalier::testing::refusal_of;
using testing::all_of;
using testing::expect_forms_agree;
using testing::loss_after;

double learnt(Model& model, const espalier::testing::LossOf& loss, int steps) {
  return loss_after(model, steps, [&](Graph& graph) {
    std::vector<Expr> none;
    return loss(graph, none);
  });
}

std::vector<QueryPlan> plans() {
  Random random(3);
  std::vector<QueryPlan> all;
  for (const std::int32_t operators : {1, 2, 6, 9, 12}) all.push_back(testing::random_plan(random, operators, 3));
  return all;
}

TEST(PlanNet, IsTheSameNetworkInBothForms) {
  const std::vector<QueryPlan> all = plans();
  for (const std::string loss : {"every", "root"})
    expect_forms_agree(
        [&](Model& model, Form form) {
          auto net = std::make_shared<PlanNet>(model, PlanSettings{.hidden = 5, .loss = loss},
                                               PlanNet::children_by_kind(all, 3), 3, form);
          return [net](Graph& graph, const QueryPlan& plan) { return sum({net->loss(graph, plan)}); };
        },
        all);
}

TEST(PlanNet, LearnsAFewPlansAndGivesTheTimeBesideTheLoss) {
  const std::vector<QueryPlan> all = plans();
  Model model;
  const PlanNet net(model, {.hidden = 16}, PlanNet::children_by_kind(all, 3), 3);
  EXPECT_LT(learnt(model,
                   all_of(all, [&](Graph& graph, const QueryPlan& plan) { return sum({net.loss(graph, plan)}); }), 400),
            0.1);
  for (const QueryPlan& plan : all) {
    Graph graph({.training = false});
    Expr beside;
    net.loss(graph, plan, &beside);
    EXPECT_NEAR(beside.value().item(), net.time(graph, plan).value().item(), 1e-5);
  }
}

TEST(PlanNet, RefusesAnotherNumberOfFeatures) {
  Model model;
  const PlanNet net(model, {.hidden = 4}, std::vector<std::int32_t>{0}, 3);
  const QueryPlan plan{.nodes = {{.features = {1, 2}}}};
  Graph graph;
  EXPECT_EQ(refusal_of([&] { net.time(graph, plan); }), "plans: an operator has 2 features, and the network reads 3");
}

std::vector<Molecule> molecules(std::int32_t features) {
  Random random(4);
  std::vector<Molecule> all;
  for (const std::int32_t atoms : {1, 2, 5, 8}) all.push_back(testing::random_molecule(random, atoms, 4, features));
  return all;
}

TEST(MoleculeNet, GivesTheNumbersOfPlainCodeInEveryWayAndLearns) {
  for (const std::string network : {"message_passing", "weave"})
    for (const std::int32_t features : {0, 2}) {
      SCOPED_TRACE(network);
      const std::vector<Molecule> all = molecules(features);
      Model model;
      const MoleculeNet net(model, {.network = network, .hidden = 12, .rounds = 2},
                            {.atoms = 4, .bonds = 2, .features = features});
      const auto loss = all_of(all, [&](Graph& graph, const Molecule& molecule) {
        return net.regression_loss(net.output(graph, molecule), {&molecule.target, 1});
      });
      espalier::testing::expect_cells_agree(model, loss);
      EXPECT_LT(learnt(model, loss, 300), 0.25);
    }
}

TEST(MoleculeNet, AnswersFromTheMeanOfAtoms) {
  for (const std::string network : {"message_passing", "weave"}) {
    const std::vector<Molecule> all = molecules(2);
    Model model;
    const MoleculeNet net(model, {.network = network, .readout = "mean", .hidden = 12, .rounds = 2},
                          {.atoms = 4, .bonds = 2, .features = 2});
    const auto loss = all_of(all, [&](Graph& graph, const Molecule& molecule) {
      return net.regression_loss(net.output(graph, molecule), {&molecule.target, 1});
    });
    espalier::testing::expect_cells_agree(model, loss);
    EXPECT_LT(learnt(model, loss, 300), 0.25);
  }
}

TEST(MoleculeNet, LeavesOutTargetsThatAreMissing) {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Molecule> all = molecules(0);
  Model model;
  const MoleculeNet net(model, {.hidden = 6, .rounds = 2}, {.atoms = 4, .bonds = 2, .targets = 3});
  const std::vector<float> targets{1, kMissing, 0};
  Graph graph;
  const Expr output = net.output(graph, all[2]);
  const Tensor x = output.value();
  const double expected = std::log1p(std::exp(-x.at(0))) + std::log1p(std::exp(x.at(2)));
  EXPECT_NEAR(MoleculeNet::classification_loss(output, targets).value().item(), expected, 1e-5);
  const double squares = (x.at(0) - 1) * (x.at(0) - 1) + x.at(2) * x.at(2);
  EXPECT_NEAR(MoleculeNet::regression_loss(output, targets).value().item(), squares, 1e-5);
  const auto loss = all_of(all, [&](Graph& g, const Molecule& molecule) {
    return MoleculeNet::classification_loss(net.output(g, molecule), targets);
  });
  espalier::testing::expect_cells_agree(model, loss);
  EXPECT_EQ(refusal_of([&] { MoleculeNet::regression_loss(output, std::vector<float>(3, kMissing)); }),
            "molecules: no target is known");
  EXPECT_EQ(refusal_of([&] { net.output(graph, {}); }), "molecules: a molecule has no atoms");
}

std::vector<Lattice> lattices() {
  Random random(9);
  std::vector<Lattice> all;
  for (const std::int32_t length : {1, 2, 5, 8}) all.push_back(testing::random_lattice(random, length, 7, 9));
  return all;
}

LatticeSettings small_lattice(const std::string& merge, bool crf, bool bidirectional) {
  return {.merge = merge, .embedding = 4, .hidden = 5, .bidirectional = bidirectional, .crf = crf, .dropout = 0};
}

TEST(LatticeNet, IsTheSameNetworkInBothForms) {
  const std::vector<Lattice> all = lattices();
  for (const std::string merge : {"gates", "sum"})
    for (const bool both : {false, true}) {
      SCOPED_TRACE(merge);
      expect_forms_agree(
          [&](Model& model, Form form) {
            auto net = std::make_shared<LatticeNet>(model, small_lattice(merge, both, both),
                                                    LatticeCounts{.characters = 7, .words = 9, .tags = 3}, form);
            return [net](Graph& graph, const Lattice& lattice) {
              return sum({net->loss(net->scores(graph, lattice), lattice.labels)});
            };
          },
          all);
    }
}

TEST(LatticeNet, LearnsAFewSentences) {
  const std::vector<Lattice> all = lattices();
  for (const std::string merge : {"gates", "sum"}) {
    Model model;
    const LatticeNet net(model, small_lattice(merge, true, true), {.characters = 7, .words = 9, .tags = 3});
    const auto loss = all_of(all, [&](Graph& graph, const Lattice& lattice) {
      return sum({net.loss(net.scores(graph, lattice), lattice.labels)});
    });
    EXPECT_LT(learnt(model, loss, 150), 0.5);
    Graph graph({.training = false});
    for (const Lattice& lattice : all) EXPECT_EQ(net.tags(net.scores(graph, lattice).value()), lattice.labels);
  }
}

TEST(LatticeNet, RunsAsAFewNodesOfManyRows) {
  Model model;
  const LatticeNet net(model, small_lattice("gates", true, true), {.characters = 7, .words = 9, .tags = 3});
  const Lattice lattice = lattices().back();
  Graph graph;
  net.loss(net.scores(graph, lattice), lattice.labels).backward();
  EXPECT_EQ(graph.explain().find("op by op"), std::string::npos) << graph.explain();
}

TEST(LatticeNet, ReadsALatticeFromItsEnd) {
  const Lattice lattice{.characters = {1, 2, 3, 4}, .labels = {0, 1, 2, 0}, .words = {{0, 2, 5}, {0, 3, 6}, {2, 4, 7}}};
  std::vector<std::int32_t> order;
  const Lattice back = reversed(lattice, order);
  EXPECT_EQ(back.characters, (std::vector<std::int32_t>{4, 3, 2, 1}));
  EXPECT_EQ(order, (std::vector<std::int32_t>{2, 0, 1}));
  EXPECT_EQ(back.words[0].begin, 0);
  EXPECT_EQ(back.words[0].end, 2);
  EXPECT_EQ(back.words[2].begin, 1);
  EXPECT_EQ(back.words[2].end, 4);
  const Lattice again = reversed(back, order);
  EXPECT_EQ(again.characters, lattice.characters);
  EXPECT_EQ(refusal_of([] {
              Model model;
              Graph graph;
              LatticeNet(model, small_lattice("sum", false, false), {7, 9, 3}).scores(graph, {});
            }),
            "lattice: a sentence has no characters");
}

}  // namespace
}  // namespace espalier::models
