/// The numbers that describe an operator of a query plan: what the planner estimated, never what was measured.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace espalier::bench {

struct PlanEstimates {
  double rows = 0;
  double width = 0;  // bytes of a row
  double startup_cost = 0;
  double total_cost = 0;
};

inline constexpr std::int32_t kPlanFeatures = 5;

/// Tenths of logarithms, so that they are at most about one.
inline std::vector<float> plan_features(const PlanEstimates& estimates) {
  const auto scaled = [](double x) { return static_cast<float>(std::log1p(x) / 10); };
  return {scaled(estimates.rows), scaled(estimates.width), scaled(estimates.startup_cost), scaled(estimates.total_cost),
          scaled(std::fmax(estimates.total_cost - estimates.startup_cost, 0))};
}

}  // namespace espalier::bench
