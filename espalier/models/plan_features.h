/// What PlanNet reads of a PostgreSQL plan: kinds of operators, and features of each that are known before it runs.
///
/// Features are the planner's estimates as logarithms, counts of conditions and keys, and which of the texts and flags
/// of the training data an operator has ("Join Type" "Inner"). Measurements ("Actual ...", blocks, memory) are never
/// features.
///
/// Thread safety: const functions from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/data/value.h"
#include "espalier/models/instances.h"
#include "espalier/models/standard_scale.h"
#include "espalier/models/words.h"

namespace espalier::models {

struct PlanFeatureOptions {
  /// Rarer kinds of operators share a network, and rarer texts are no features. If no kind is so rare, the rarest has
  /// that network for itself, which also computes kinds that never occurred.
  std::int64_t min_count = 5;
  bool names = true;  // of relations and indexes
};

class PlanFeatures {
 public:
  PlanFeatures() = default;
  /// From the topmost operators of the training data. Refuses what encode() refuses.
  PlanFeatures(std::span<const Value> roots, const PlanFeatureOptions& options);

  /// Targets are the logarithms of measured milliseconds, NaN where there is none. Refuses (UsageError) operators
  /// without estimates, and more than 1000 levels.
  QueryPlan encode(const Value& root) const;
  /// Plans, one per line of a file, that together have every kind of operator with none to three inputs.
  std::vector<Value> samples() const;
  /// Kinds of operators, with number 0 for all rare and all unknown ones.
  std::int32_t kinds() const { return kinds_.size(); }
  /// Per operator.
  std::int32_t features() const { return kNumbers + texts_.size() - 1; }

  Value to_value() const;
  /// Refuses (UsageError) anything but what to_value() gives.
  static PlanFeatures from_value(const Value& value);

 private:
  static constexpr std::int32_t kNumbers = 10;
  using Numbers = std::array<double, kNumbers>;

  static Numbers numbers_of(const Value& node);
  std::vector<float> features_of(const Value& node) const;

  Words kinds_;
  Words texts_;  // "Join Type Inner"
  std::array<StandardScale, kNumbers> scales_{};
};

/// The measured milliseconds of an operator over all its loops; NaN if there are none. At least a microsecond, the last
/// digit of the clock.
double measured_time(const Value& node);

}  // namespace espalier::models
