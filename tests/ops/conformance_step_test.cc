/// Conformance of every op's step kernels: forward and backward of steps of 1, 2 and 7 rows, in every layout and way of
/// sharing, against the plain code; what Keep frees is poisoned before backward.
#include "tests/ops/conformance_step.h"

namespace espalier::conformance {
namespace {

constexpr std::size_t kRows[] = {1, 2, 7};
constexpr Layout kLayouts[] = {Layout::kDense, Layout::kStrided, Layout::kOffsets};
constexpr double kForwardTolerance = 1e-5;
constexpr double kBackwardTolerance = 1e-4;

class ConformanceStep : public OpTest {
 protected:
  /// Calls check(step, random) for every sample, number of rows, layout and way of sharing.
  template <class Check>
  void for_each_step(const Check& check) {
    const Samples samples = info().samples();
    for (std::size_t s = 0; s < samples.size(); ++s)
      for (const std::size_t rows : kRows)
        for (const Layout layout : kLayouts)
          for (const std::vector<bool>& shared : ways_to_share(info(), shapes_of(samples[s]).size())) {
            const std::uint64_t seed = 100 * rows + static_cast<std::uint64_t>(layout);
            SCOPED_TRACE(sample_text(info(), samples, s, seed) + ", " + std::to_string(rows) + " rows, " +
                         name_of(layout) + shared_text(shared));
            Random random(seed, s);
            Step step(info(), nodes_for(info(), samples, s, rows, random), layout, shared, random);
            check(step, random);
            if (HasFailure()) return;
          }
  }

 private:
  std::string shared_text(const std::vector<bool>& shared) const {
    std::string text;
    for (std::size_t i = 0; i < shared.size(); ++i)
      if (shared[i]) text += ", " + std::string(info().inputs[i].name) + " shared";
    return text;
  }
};

double largest_input(const Node& node) {
  double result = 0;
  for (const auto& input : node.inputs) result = std::max(result, largest(input));
  return result;
}

TEST_P(ConformanceStep, ForwardEqualsThePlainCode) {
  for_each_step([&](Step& step, Random&) {
    step.forward();
    for (std::size_t r = 0; r < step.nodes().size(); ++r) {
      const Node& node = step.nodes()[r];
      const std::vector<float> expected = plain<float>(info(), node);
      const double tolerance = kForwardTolerance * largest(expected) + 1e-7 * largest_input(node);
      EXPECT_TRUE(all_near(step.y(r), expected, tolerance)) << "row " << r;
      if (node.sample->expected && !info().is_ragged() && r == 0) {
        const std::span<const float> by_hand = node.sample->expected->as<float>();
        EXPECT_TRUE(all_near(step.y(r), std::vector<float>(by_hand.begin(), by_hand.end()), tolerance))
            << "computed by hand";
      }
    }
    EXPECT_FALSE(step.wrote_outside());
  });
}

TEST_P(ConformanceStep, PermutedRowsGiveThePermutedResult) {
  const Samples samples = info().samples();
  constexpr std::size_t kPermutation[] = {4, 0, 6, 2, 1, 5, 3};
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (const std::vector<bool>& shared : ways_to_share(info(), shapes_of(samples[s]).size())) {
      SCOPED_TRACE(sample_text(info(), samples, s, 7));
      Random random(7, s);
      Step step(info(), nodes_for(info(), samples, s, std::size(kPermutation), random), Layout::kDense, shared, random);
      std::vector<Node> permuted;
      for (std::size_t r : kPermutation) permuted.push_back(step.nodes()[r]);
      Step other(info(), permuted, Layout::kDense, shared, random);
      step.forward();
      other.forward();
      for (std::size_t r = 0; r < permuted.size(); ++r) {
        const std::vector<float> a = step.y(kPermutation[r]);
        const std::vector<float> b = other.y(r);
        if (info().kind == Kind::kProduct)
          EXPECT_TRUE(all_near(b, a, kForwardTolerance * largest(a))) << "row " << r;
        else
          EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << "row " << r;
      }
    }
}

/// What the gradients of a step must be: per node and operand.
std::vector<std::vector<std::vector<double>>> reference_gradients(const OpInfo& info, const Step& step,
                                                                  const std::vector<std::vector<float>>& dy) {
  std::vector<std::vector<std::vector<double>>> result;
  for (std::size_t r = 0; r < step.nodes().size(); ++r)
    result.push_back(reference_gradient(info, step.nodes()[r], std::vector<double>(dy[r].begin(), dy[r].end())));
  return result;
}

/// Memory for the wanted gradients of a step, as GradRows, and what it held before.
class GradientTarget {
 public:
  /// With `store`, the memory holds NaN and must be stored to, except where a step of several rows adds to one.
  GradientTarget(Step& step, const std::vector<bool>& wanted, bool store, Random& random) {
    for (std::size_t i = 0; i < step.inputs(); ++i) {
      memory_.push_back(step.gradient_memory(i));
      RowMemory& memory = memory_.back();
      before_.emplace_back(memory.distinct_rows(), std::vector<float>(step.width_of(i), 0.0F));
      const bool stores = store && !(step.shared(i) && step.nodes().size() > 1);
      if (!store) before_.back() = random_rows(memory.distinct_rows(), step.width_of(i), random);
      for (std::size_t r = 0; r < memory.distinct_rows(); ++r) memory.set(r, before_.back()[r]);
      if (stores) memory.fill_rows(kNan);
      into_.push_back(wanted[i] ? GradRows(memory.rows(), stores) : GradRows());
    }
  }

  std::span<const GradRows> into() const { return into_; }

  void expect(std::size_t input, const std::vector<std::vector<double>>& gradient, double dy_scale) {
    ASSERT_EQ(gradient.size(), memory_[input].distinct_rows());
    for (std::size_t r = 0; r < gradient.size(); ++r) {
      std::vector<double> expected = gradient[r];
      const double tolerance = kBackwardTolerance * largest(expected) + 1e-6 * dy_scale;
      for (std::size_t j = 0; j < expected.size(); ++j) expected[j] += static_cast<double>(before_[input][r][j]);
      EXPECT_TRUE(all_near(std::span<const float>(memory_[input].row(r)), std::span<const double>(expected), tolerance))
          << "gradient of input " << input << ", row " << r;
    }
    EXPECT_TRUE(memory_[input].gaps_hold(Step::kMark)) << "wrote outside the gradient of input " << input;
  }

 private:
  std::vector<RowMemory> memory_;
  std::vector<std::vector<std::vector<float>>> before_;
  std::vector<GradRows> into_;
};

/// Each input's gradient alone, and all.
std::vector<std::vector<bool>> wanted_sets(std::size_t inputs) {
  std::vector<std::vector<bool>> sets{std::vector<bool>(inputs, true)};
  if (inputs < 2) return sets;
  for (std::size_t i = 0; i < inputs; ++i) {
    sets.emplace_back(inputs, false);
    sets.back()[i] = true;
  }
  return sets;
}

TEST_P(ConformanceStep, BackwardEqualsTheGradientOfThePlainCode) {
  for_each_step([&](Step& step, Random& random) {
    const std::vector<std::vector<float>> dy = random_rows(step.nodes().size(), step.nodes()[0].elements(), random);
    const auto expected = reference_gradients(info(), step, dy);
    step.forward();
    step.poison();
    double dy_scale = 0;
    for (const auto& row : dy) dy_scale = std::max(dy_scale, largest(row));
    for (const std::vector<bool>& wanted : wanted_sets(step.inputs()))
      for (const bool store : {true, false}) {
        GradientTarget target(step, wanted, store, random);
        step.backward(target.into(), dy);
        for (std::size_t i = 0; i < step.inputs(); ++i) {
          SCOPED_TRACE(store ? "storing" : "adding");
          if (wanted[i]) target.expect(i, step.rows_of_gradient(i, expected), dy_scale);
        }
        if (HasFailure()) return;
      }
  });
}

TEST_P(ConformanceStep, GradientsOfOneNodeUsedTwiceAddUp) {
  // mul(x, x): two operands are one node, whose gradient both add to.
  const Samples samples = info().samples();
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const std::vector<Shape> shapes = shapes_of(samples[s]);
    if (info().is_ragged() || shapes.size() < 2 || shapes[0] != shapes[1] || samples[s].expected) continue;
    if (!info().takes_any_number() &&
        (info().inputs[0].role == Role::kShared || info().inputs[1].role == Role::kShared))
      continue;
    SCOPED_TRACE(sample_text(info(), samples, s, 11));
    Random random(11, s);
    Step step(info(), nodes_for(info(), samples, s, 2, random), Layout::kDense, std::vector<bool>(shapes.size(), false),
              random);
    const std::vector<std::vector<float>> dy = random_rows(2, step.nodes()[0].elements(), random);
    const auto expected = reference_gradients(info(), step, dy);
    step.forward();
    step.poison();
    RowMemory both = step.gradient_memory(0);
    both.fill_rows(0);
    std::vector<GradRows> into(step.inputs());
    into[0] = into[1] = GradRows(both.rows(), false);
    step.backward(into, dy);
    for (std::size_t r = 0; r < 2; ++r) {
      std::vector<double> sum = expected[r][0];
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += expected[r][1][j];
      const double tolerance = kBackwardTolerance * std::max(largest(expected[r][0]), largest(expected[r][1])) + 2e-6;
      EXPECT_TRUE(all_near(std::span<const float>(both.row(r)), std::span<const double>(sum), tolerance))
          << "row " << r;
    }
  }
}

TEST_P(ConformanceStep, ATableRowIsWhatItSaysItCopies) {
  if (info().table_row == nullptr) return;
  ASSERT_EQ(info().inputs.size(), 1U);
  EXPECT_EQ(info().inputs[0].role, Role::kShared);
  for_each_step([&](Step& step, Random& random) {
    const std::vector<std::vector<float>> dy = random_rows(step.nodes().size(), step.nodes()[0].elements(), random);
    std::vector<double> expected(step.width_of(0), 0.0);
    step.forward();
    for (std::size_t r = 0; r < step.nodes().size(); ++r) {
      const Node& node = step.nodes()[r];
      const auto begin = static_cast<std::size_t>(info().table_row(node.fields())) * node.elements();
      for (std::size_t j = 0; j < node.elements(); ++j) {
        EXPECT_EQ(step.y(r)[j], node.inputs[0][begin + j]) << "row " << r;
        expected[begin + j] += static_cast<double>(dy[r][j]);
      }
    }
    EXPECT_TRUE(all_near(step.rows_of_gradient(0, reference_gradients(info(), step, dy))[0], expected, 1e-12));
  });
}

INSTANTIATE_TEST_SUITE_P(Ops, ConformanceStep, ::testing::ValuesIn(computing_ops()), name_of_op);

}  // namespace
}  // namespace espalier::conformance
