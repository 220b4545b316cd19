/// The features of an operator of a query plan: estimates of the planner, never measurements.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace espalier::bench {

struct PlanEstimates {
  double rows = 0;
  double width = 0;  // bytes per row
  double startup_cost = 0;
  double total_cost = 0;
};

inline constexpr std::int32_t kPlanFeatures = 5;

/// Logarithms divided by ten, so that they are at most about 1.
inline std::vector<float> plan_features(const PlanEstimates& estimates) {
  const auto scaled = [](double x) { return static_cast<float>(std::log1p(x) / 10); };
  return {scaled(estimates.rows), scaled(estimates.width), scaled(estimates.startup_cost), scaled(estimates.total_cost),
          scaled(std::fmax(estimates.total_cost - estimates.startup_cost, 0))};
}

}  // namespace espalier::bench
