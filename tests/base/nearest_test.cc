/// Suggestions for misspelt names, and strategies made from their names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "espalier/base/error.h"
#include "espalier/base/nearest.h"
#include "espalier/base/strategy.h"

namespace espalier {
namespace {

constexpr std::array<std::string_view, 5> kCommands{"train", "eval", "ops", "blocks", "listops"};

TEST(EditDistance, CountsChangesAdditionsRemovalsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("train", "train"), 0U);
  EXPECT_EQ(edit_distance("trian", "train"), 1U);
  EXPECT_EQ(edit_distance("mpa", "map"), 1U);
  EXPECT_EQ(edit_distance("epoch", "epochs"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // a swapped pair is not edited again
}

TEST(NearestName, TakesTheNearestOfSimilarNamesOnly) {
  EXPECT_EQ(nearest_name("trian", kCommands), "train");
  EXPECT_EQ(nearest_name("opps", kCommands), "ops");
  EXPECT_EQ(nearest_name("list", kCommands), "listops");
  EXPECT_EQ(nearest_name("dance", kCommands), "");
  EXPECT_EQ(nearest_name("", kCommands), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Suggestion, IsAQuestionOrNothing) {
  EXPECT_EQ(suggestion("evla", kCommands), "; did you mean \"eval\"?");
  EXPECT_EQ(suggestion("dance", kCommands), "");
}

TEST(Suggestion, ListsAllNamesIfAskedTo) {
  EXPECT_EQ(suggestion_or_names("evla", kCommands), "; did you mean \"eval\"?");
  const std::array<std::string_view, 3> optimizers{"adam", "adagrad", "sgd"};
  EXPECT_EQ(suggestion_or_names("momentum", optimizers), "; there are \"adam\", \"adagrad\" and \"sgd\"");
  EXPECT_EQ(suggestion_or_names("momentum", std::span(optimizers).last(1)), "; there is only \"sgd\"");
  EXPECT_EQ(suggestion_or_names("momentum", {}), "");
}

TEST(StrategyFromName, GivesEveryStrategyBack) {
  for (const Strategy strategy : kAllStrategies) EXPECT_EQ(strategy_from_name(name_of(strategy)), strategy);
}

TEST(StrategyFromName, RefusesAnUnknownNameWithASuggestion) {
  const auto message = [](std::string_view name) {
    try {
      strategy_from_name(name);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(message("fronteer"),
            "there is no strategy \"fronteer\": the strategies are none, depth, agenda and frontier; did you mean "
            "\"frontier\"?");
  EXPECT_EQ(message("Bogus"), "there is no strategy \"Bogus\": the strategies are none, depth, agenda and frontier");
}

}  // namespace
}  // namespace espalier
