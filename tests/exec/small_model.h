/// A few parameters for tests that record by hand.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "espalier/base/strategy.h"
#include "espalier/nn/model.h"

namespace espalier::testing {

inline constexpr std::array kStrategies{Strategy::kNone, Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier};

class SmallModel : public ::testing::Test {
 protected:
  static constexpr std::int32_t kWidth = 6;

  Model model;
  Parameter& table = model.add("table", {9, kWidth}, init::uniform(-1, 1));
  Parameter& W = model.add("W", {kWidth, kWidth}, init::uniform(-0.5, 0.5));
  Parameter& V = model.add("V", {kWidth, kWidth}, init::uniform(-0.5, 0.5));
  Parameter& b = model.add("b", {kWidth}, init::uniform(-0.5, 0.5));
};

}  // namespace espalier::testing
