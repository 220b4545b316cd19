/// Random graphs of plain ops, cells, nodes of many rows and recursions give the same numbers by ONNX Runtime.
#include <gtest/gtest.h>

#include "espalier/base/error.h"
#include "tests/exec/mixed_graph.h"
#include "tests/onnx/cases.h"

namespace espalier::onnx {
namespace {

using namespace espalier::testing;  // NOLINT(google-build-using-namespace): the tests are about these

constexpr int kGraphs = 200;

/// False for a graph with rows without elements, which are refused.
bool add_case(const std::filesystem::path& folder, const std::string& output, const std::vector<Instance>& instances) {
  try {
    write_case(folder, {output}, instances, instances);
    return true;
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("has no elements"), std::string::npos) << error.what();
    std::filesystem::remove_all(folder);
    return false;
  }
}

TEST(OnnxRandomGraphs, OnnxRuntimeComputesTwoHundred) {
  const OnnxFolder folder;
  int cases = 0;
  const auto recipes = rc::gen::arbitrary<MixedRecipe>();
  for (int k = 0; cases < kGraphs && k < 3 * kGraphs; ++k) {
    const rc::Random random(static_cast<std::uint64_t>(k) + 1);
    constexpr int kSize = 60;
    const MixedRecipe recipe = recipes(random, kSize).value();
    const MixedNet net(kNetSeed, DType::kFloat32, recipe.width());
    const MixedFunctions functions(net, recipe);
    Graph graph({.training = false});
    const MixedGraph recorded = MixedRecorder(graph, net, recipe, functions).record();
    SCOPED_TRACE("recipe " + std::to_string(k));
    std::vector<Instance> losses;
    for (const Expr& loss : recorded.losses) losses.push_back({loss});
    cases += add_case(folder / ("losses" + std::to_string(k)), "loss", losses) ? 1 : 0;
    // Single rows and many, of all results that have one shape.
    std::vector<Instance> results;
    for (const Expr& result : recorded.results)
      if (result.shape() == recorded.results.back().shape()) results.push_back({result});
    cases += add_case(folder / ("results" + std::to_string(k)), "result", results) ? 1 : 0;
  }
  EXPECT_GE(cases, kGraphs);
  expect_runtime_agrees(folder, cases);
}

}  // namespace
}  // namespace espalier::onnx
