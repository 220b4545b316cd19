/// What the benchmark has to show: a list of demands on its figures, and whether they are met.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/suite/record.h"

namespace espalier::bench {

/// One number that a demand is about, and what it is of.
struct Figure {
  double value = 0;
  std::string of;  // as in "B1 300/150 train, 64, 1 thread, each"
};

struct Target {
  std::string_view demand;  // as in "cells at 0.90 of the limit, 16 instances and more"
  double bound = 0;
  bool at_least = true;  // else at most
  std::function<std::vector<Figure>(const Records&)> figures;
};

std::span<const Target> targets();

/// Whether one of the targets is about products in this setting.
bool products_are_judged(std::string_view workload, std::string_view sizes, std::int32_t batch, Mode mode,
                         std::int32_t threads);

struct Verdict {
  enum class Kind { kMet, kMissed, kNotMeasured } kind = Kind::kNotMeasured;
  std::string text;  // the worst figure and what it is of, and how many of how many miss
};

Verdict judge(const Target& target, const Records& records);

/// One line a target: met, not met, not measured, and the figure.
std::string targets_text(const Records& records);

}  // namespace espalier::bench
