/// Accuracy of the elementwise functions in units in the last place, and what they give for special values.
#include "espalier/kernels/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "espalier/base/denormals.h"
#include "espalier/base/error.h"
#include "tests/kernels/targets.h"
#include "tests/support/numbers.h"

namespace espalier::kernels {
namespace {

using testing::kInf;
using testing::kNaN;

constexpr float kDenormal = std::numeric_limits<float>::denorm_min();
constexpr float kLargest = std::numeric_limits<float>::max();

double exact_sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double exact_softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

struct Function {
  std::string name;
  void (*kernel)(std::span<const float>, std::span<float>);
  double (*exact)(double);
  double ulps;  // the promise of simd_math-inl.h
};

const std::vector<Function>& functions() {
  static const std::vector<Function> list{
      {"exp", exp, [](double x) { return std::exp(x); }, 1.5},
      {"expm1", expm1, [](double x) { return std::expm1(x); }, 2.0},
      {"log", log, [](double x) { return std::log(x); }, 1.0},
      {"log1p", log1p, [](double x) { return std::log1p(x); }, 1.0},
      {"tanh", tanh, [](double x) { return std::tanh(x); }, 3.0},
      {"sigmoid", sigmoid, exact_sigmoid, 3.0},
      {"erf", erf, [](double x) { return std::erf(x); }, 1.5},
      {"softplus", softplus, exact_softplus, 2.0},
  };
  return list;
}

/// The distance between `got` and `exact` in floats, at the place of `exact`.
double ulps_between(float got, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(got) || std::isnan(rounded)) return std::isnan(got) && std::isnan(rounded) ? 0 : kInf;
  if (got == rounded) return 0;  // infinities too
  // Just above the largest float, either side of the step to infinity is within half a unit.
  const auto finite = [](double x) { return std::clamp<double>(x, -0x1p128, 0x1p128); };
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::abs(finite(got) - finite(exact)) / std::ldexp(1.0, exponent - 23);
}

/// Walks through the bit patterns of all floats.
std::vector<float> floats_of_every_size(std::uint32_t stride) {
  std::vector<float> floats;
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFF; bits += stride) {
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return floats;
}

TEST(Math, IsAsAccurateAsItsHeaderSays) {
  const std::vector<float> x = floats_of_every_size(4001);
  std::vector<double> exact(x.size());
  std::vector<float> y(x.size());
  for (const Function& function : functions()) {
    std::transform(x.begin(), x.end(), exact.begin(), [&](float v) { return function.exact(v); });
    on_every_target([&] {
      function.kernel(x, y);
      double worst = 0;
      float where = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double ulps = ulps_between(y[i], exact[i]);
        if (ulps > worst) {
          worst = ulps;
          where = x[i];
        }
      }
      EXPECT_LE(worst, function.ulps) << function.name << " is worst at " << where;
    });
  }
}

struct Special {
  void (*kernel)(std::span<const float>, std::span<float>);
  std::string name;
  float x;
  float y;
};

TEST(Math, SpecialValuesAreThoseOfTheStandardLibrary) {
  const std::vector<Special> table{
      {exp, "exp", 0.0F, 1.0F},
      {exp, "exp", -0.0F, 1.0F},
      {exp, "exp", kInf, kInf},
      {exp, "exp", -kInf, 0.0F},
      {exp, "exp", kNaN, kNaN},
      {exp, "exp", 200.0F, kInf},
      {exp, "exp", -200.0F, 0.0F},
      {exp, "exp", kLargest, kInf},
      {exp, "exp", -kLargest, 0.0F},
      {exp, "exp", kDenormal, 1.0F},
      {exp, "exp", -103.0F, kDenormal},
      {exp, "exp", 88.7228394F, std::exp(88.7228394F)},
      {expm1, "expm1", 0.0F, 0.0F},
      {expm1, "expm1", -0.0F, -0.0F},
      {expm1, "expm1", kInf, kInf},
      {expm1, "expm1", -kInf, -1.0F},
      {expm1, "expm1", kNaN, kNaN},
      {expm1, "expm1", kDenormal, kDenormal},
      {expm1, "expm1", -kDenormal, -kDenormal},
      {expm1, "expm1", 100.0F, kInf},
      {expm1, "expm1", -100.0F, -1.0F},
      {log, "log", 1.0F, 0.0F},
      {log, "log", 0.0F, -kInf},
      {log, "log", -0.0F, -kInf},
      {log, "log", -1.0F, kNaN},
      {log, "log", -kDenormal, kNaN},
      {log, "log", -kInf, kNaN},
      {log, "log", kInf, kInf},
      {log, "log", kNaN, kNaN},
      {log, "log", kDenormal, std::log(kDenormal)},
      {log, "log", kLargest, std::log(kLargest)},
      {log1p, "log1p", 0.0F, 0.0F},
      {log1p, "log1p", -0.0F, -0.0F},
      {log1p, "log1p", -1.0F, -kInf},
      {log1p, "log1p", -1.5F, kNaN},
      {log1p, "log1p", -kInf, kNaN},
      {log1p, "log1p", kInf, kInf},
      {log1p, "log1p", kNaN, kNaN},
      {log1p, "log1p", kDenormal, kDenormal},
      {log1p, "log1p", kLargest, std::log1p(kLargest)},
      {tanh, "tanh", 0.0F, 0.0F},
      {tanh, "tanh", -0.0F, -0.0F},
      {tanh, "tanh", kInf, 1.0F},
      {tanh, "tanh", -kInf, -1.0F},
      {tanh, "tanh", kNaN, kNaN},
      {tanh, "tanh", kDenormal, kDenormal},
      {tanh, "tanh", -kDenormal, -kDenormal},
      {tanh, "tanh", 50.0F, 1.0F},
      {sigmoid, "sigmoid", 0.0F, 0.5F},
      {sigmoid, "sigmoid", -0.0F, 0.5F},
      {sigmoid, "sigmoid", kInf, 1.0F},
      {sigmoid, "sigmoid", -kInf, 0.0F},
      {sigmoid, "sigmoid", kNaN, kNaN},
      {sigmoid, "sigmoid", -200.0F, 0.0F},
      {sigmoid, "sigmoid", 200.0F, 1.0F},
      {sigmoid, "sigmoid", -103.0F, kDenormal},
      {erf, "erf", 0.0F, 0.0F},
      {erf, "erf", -0.0F, -0.0F},
      {erf, "erf", kInf, 1.0F},
      {erf, "erf", -kInf, -1.0F},
      {erf, "erf", kNaN, kNaN},
      {erf, "erf", kDenormal, kDenormal},
      {softplus, "softplus", 0.0F, 0.693147182F},
      {softplus, "softplus", kInf, kInf},
      {softplus, "softplus", -kInf, 0.0F},
      {softplus, "softplus", kNaN, kNaN},
      {softplus, "softplus", 200.0F, 200.0F},
      {softplus, "softplus", -103.0F, kDenormal},
  };
  on_every_target([&] {
    for (const Special& special : table) {
      float y = 42;
      special.kernel({&special.x, 1}, {&y, 1});
      if (std::isnan(special.y)) {
        EXPECT_TRUE(std::isnan(y)) << special.name << "(" << special.x << ") = " << y;
      } else {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(y), std::bit_cast<std::uint32_t>(special.y))
            << special.name << "(" << special.x << ") = " << y << ", not " << special.y;
      }
    }
  });
}

TEST(Math, EveryLengthGivesTheSameResultsAndLeavesTheRestAlone) {
  constexpr std::size_t kMost = 70;
  std::vector<float> x(kMost);
  for (std::size_t i = 0; i < kMost; ++i) x[i] = 0.1F + 0.03F * static_cast<float>(i);
  on_every_target([&] {
    for (const Function& function : functions()) {
      std::vector<float> whole(kMost);
      function.kernel(x, whole);
      for (std::size_t n = 0; n < kMost; ++n) {
        std::vector<float> part(n + 1, -7.0F);
        function.kernel({x.data(), n}, {part.data(), n});
        EXPECT_TRUE(std::equal(part.begin(), part.end() - 1, whole.begin())) << function.name << " of " << n;
        EXPECT_EQ(part.back(), -7.0F) << function.name << " of " << n;
      }
    }
  });
}

TEST(Math, WorksInPlace) {
  for (const Function& function : functions()) {
    std::vector<float> x{0.5F, 1.0F, 1.5F, 2.0F, 2.5F, 3.0F, 3.5F, 4.0F, 4.5F, 5.0F, 5.5F};
    std::vector<float> y(x.size());
    function.kernel(x, y);
    function.kernel(x, x);
    EXPECT_EQ(x, y) << function.name;
  }
}

TEST(Math, DenormalsCountAsZeroWhileTheyAreFlushed) {
  const FlushDenormals flush;
  float y = 42;
  exp(std::vector<float>{-100.0F}, {&y, 1});
  EXPECT_EQ(y, 0.0F);
  sigmoid(std::vector<float>{-100.0F}, {&y, 1});
  EXPECT_EQ(y, 0.0F);
  log(std::vector<float>{kDenormal}, {&y, 1});
  EXPECT_EQ(y, -kInf);
}

TEST(Math, RefusesSpansOfDifferentSizes) {
  const std::vector<float> x(3);
  std::vector<float> y(4);
  try {
    tanh(x, y);
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "tanh: spans of 3 and 4 elements must have the same size");
  }
}

}  // namespace
}  // namespace espalier::kernels
