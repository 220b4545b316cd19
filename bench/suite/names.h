/// The names of variants and modes on the command line, in tables and in records.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/suite/workload.h"

namespace espalier::bench {

enum class Mode : std::int32_t { kTrain, kInfer };

constexpr std::string_view name_of(Mode mode) { return mode == Mode::kTrain ? "train" : "infer"; }

constexpr std::string_view name_of(Leaves leaves) { return leaves == Leaves::kOnce ? "once" : "each"; }

constexpr std::string_view name_of(Variant variant) {
  switch (variant) {
    case Variant::kLimit:
    case Variant::kLimitDedupe: return "limit";  // the column `leaves` tells them apart
    case Variant::kCells: return "cells";
    case Variant::kRecursion: return "recursion";
    case Variant::kPlain: return "plain";
    case Variant::kUnbatched: return "unbatched";
  }
  return "";
}

constexpr bool is_limit(Variant variant) { return variant == Variant::kLimit || variant == Variant::kLimitDedupe; }

}  // namespace espalier::bench
