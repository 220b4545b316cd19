/// The gradient of a product of several parts side by side, whichever of them want one.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/cells/cell.h"
#include "espalier/ops/all.h"
#include "tests/support/cells_agree.h"
#include "tests/support/gradient_check.h"

namespace espalier {
namespace {

using testing::asymmetric_sum;
using testing::expect_near;
using testing::LossOf;
using testing::numbers_of;

/// Widths of the parts and of the result: small weights, and ones that are laid out for products.
struct Widths {
  std::array<std::int64_t, 3> parts;
  std::int64_t out;
};

class CellParts : public ::testing::TestWithParam<Widths> {
 protected:
  static Expr drawn(Graph& graph, Random& random, std::int64_t width) {
    Tensor values({width});
    for (float& value : values.as<float>()) value = static_cast<float>(random.uniform(-1, 1));
    return graph.input(values);
  }
};

/// A part wants a gradient where it was computed, and none where it is data.
TEST_P(CellParts, GradientsAgreeWhicheverPartsAreData) {
  const auto& [parts, out] = GetParam();
  Model model(1);
  const Parameter& W = model.add("W", {parts[0] + parts[1] + parts[2], out}, init::glorot());
  std::vector<const Parameter*> from;
  for (std::size_t k = 0; k < parts.size(); ++k)
    from.push_back(&model.add("from" + std::to_string(k), {4, parts[k]}, init::glorot()));
  const auto step = cell("step", [&](Expr a, Expr b, Expr c) { return tanh(linear(concat({a, b, c}, 0), W)); });
  for (const std::int32_t uses : {1, 70}) {
    for (unsigned mask = 0; mask < 8; ++mask) {
      for (const bool used_before : {false, true}) {
        const LossOf loss = [&](Graph& graph, std::vector<Expr>&) {
          Random random(7);
          std::vector<Expr> results;
          for (std::int32_t i = 0; i < uses; ++i) {
            graph.begin_instance();
            std::vector<Expr> in;
            for (std::size_t k = 0; k < parts.size(); ++k)
              in.push_back((mask >> k & 1U) != 0 ? linear(drawn(graph, random, 4), *from[k])
                                                 : drawn(graph, random, parts[k]));
            results.push_back(asymmetric_sum(step(in[0], in[1], in[2])));
            // What is used elsewhere too has its gradient added to.
            if (used_before)
              for (const Expr& each : in) results.push_back(asymmetric_sum(square(each)));
          }
          return mean(results);
        };
        expect_near(numbers_of(model, {}, loss), numbers_of(model, {.execution = Execution::kPlain}, loss),
                    "parts " + std::to_string(mask) + ", " + std::to_string(uses) + " uses");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, CellParts,
                         ::testing::Values(Widths{{3, 5, 4}, 6}, Widths{{16, 20, 40}, 33}, Widths{{48, 64, 64}, 128}));

}  // namespace
}  // namespace espalier
