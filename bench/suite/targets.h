/// The benchmark's targets: demands on its figures, and whether a run meets them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/suite/record.h"

namespace espalier::bench {

/// One number that a demand is about, and the setting it was measured in.
struct Figure {
  double value = 0;
  std::string of;  // as in "B1 300/150 train, 64, 1 thread, each"
};

struct Target {
  std::string demand;  // names every restriction, as in "0.90 of the limit's speed: cells, batch size 16 or more"
  double bound = 0;
  bool at_least = true;  // otherwise at most
  std::function<std::vector<Figure>(const Records&)> figures;
};

std::span<const Target> targets();

/// Whether a target judges the products of this setting.
bool products_are_judged(std::string_view workload, std::string_view sizes, std::int32_t batch, Mode mode,
                         std::int32_t threads);

struct Verdict {
  enum class Kind { kMet, kMissed, kNotMeasured } kind = Kind::kNotMeasured;
  std::string text;  // the worst figure, its setting, and how many settings miss the target
};

Verdict judge(const Target& target, const Records& records);

/// Two lines per target: met, not met or not measured; and the worst figure.
std::string targets_text(const Records& records);

}  // namespace espalier::bench
