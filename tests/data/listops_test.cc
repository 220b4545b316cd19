/// ListOps expressions: values, depth, and what the generator draws.
#include "espalier/data/listops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "tests/support/refusal.h"

namespace espalier::data {
namespace {

using testing::refusal_of;

// Of an expression written without parentheses.
std::vector<std::int32_t> tokens_of(const std::string& text) {
  std::vector<std::int32_t> tokens;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    tokens.push_back(
        static_cast<std::int32_t>(std::find(kListOpsWords.begin(), kListOpsWords.end(), word) - kListOpsWords.begin()));
  return tokens;
}

Tree parse(const std::string& text) { return listops_tree(tokens_of(text)); }

std::string flat(const Tree& tree) {
  std::string text;
  for (std::int32_t node = 0; node < tree.size(); ++node)
    if (tree.is_leaf(node)) (text += kListOpsWords[static_cast<std::size_t>(tree.token(node))]) += ' ';
  return text;
}

struct Known {
  const char* text;
  std::int32_t value;
  std::int32_t depth;
};

TEST(ListOps, KnownExpressionsHaveTheirValueAndDepth) {
  constexpr std::array kKnown = {
      Known{"7", 7, 0},
      Known{"[MAX 2 9 ]", 9, 1},
      Known{"[MIN 4 7 ]", 4, 1},
      Known{"[MAX 2 9 [MIN 4 7 ] 0 ]", 9, 2},  // the example of the paper
      Known{"[MED 1 2 9 ]", 2, 1},
      Known{"[MED 9 1 2 ]", 2, 1},
      Known{"[MED 1 2 ]", 1, 1},      // 1.5
      Known{"[MED 9 0 ]", 4, 1},      // 4.5
      Known{"[MED 3 5 8 1 ]", 4, 1},  // (3 + 5) / 2
      Known{"[MED 0 0 0 0 9 ]", 0, 1},
      Known{"[MED 9 9 9 9 9 9 ]", 9, 1},
      Known{"[SM 9 9 9 9 9 ]", 5, 1},
      Known{"[SM 5 5 ]", 0, 1},
      Known{"[SM 1 [SM 2 [SM 3 [SM 4 5 ] ] ] ]", 5, 4},
      Known{"[MIN [MAX 1 2 ] [MAX 3 [SM 8 9 ] ] 6 ]", 2, 3},
      Known{"[SM [MED 8 9 ] [MIN 3 [MAX 0 1 ] ] [MAX 7 7 ] ]", 6, 3},
  };
  for (const Known& known : kKnown) {
    const Tree tree = parse(known.text);
    EXPECT_EQ(tree.label(), known.value) << known.text;
    EXPECT_EQ(evaluate_listops(tree), known.value) << known.text;
    EXPECT_EQ(listops_depth(tree), known.depth) << known.text;
  }
}

TEST(ListOps, TreesAreBinaryAndLeanLeftInsideEachList) {
  EXPECT_EQ(listops_text(parse("[MAX 2 9 [MIN 4 7 ] ]")), "( ( ( ( [MAX 2 ) 9 ) ( ( ( [MIN 4 ) 7 ) ] ) ) ] )");
  EXPECT_EQ(listops_text(parse("[SM [MED 1 2 3 ] 0 ]")), "( ( ( [SM ( ( ( ( [MED 1 ) 2 ) 3 ) ] ) ) 0 ) ] )");
  EXPECT_EQ(listops_text(parse("3")), "3");
  const Tree tree = parse("[MAX 2 9 [MIN 4 7 ] ]");
  EXPECT_EQ(tree.leaf_count(), 8);
  EXPECT_EQ(tree.size(), 15);
  for (std::int32_t node = 0; node < tree.root(); ++node) EXPECT_EQ(tree.label(node), kNone);
}

TEST(ListOps, TokensThatAreNotAnExpressionAreRefused) {
  const std::string start = "listops: the tokens are not one expression: ";
  EXPECT_EQ(refusal_of<UsageError>([] { parse(""); }), start + "more are needed after 0 tokens");
  EXPECT_EQ(refusal_of<UsageError>([] { parse("[MAX 1"); }), start + "more are needed after 2 tokens");
  EXPECT_EQ(refusal_of<UsageError>([] { parse("[MAX 1 ]"); }),
            start + "one that cannot stand there comes after 2 tokens");
  EXPECT_EQ(refusal_of<UsageError>([] { parse("]"); }), start + "one that cannot stand there comes after 0 tokens");
  EXPECT_EQ(refusal_of<UsageError>([] { parse("1 2"); }), start + "one that cannot stand there comes after 1 tokens");
  EXPECT_EQ(refusal_of<UsageError>([] { parse("x"); }), start + "one that cannot stand there comes after 0 tokens");
  TreeBuilder builder;
  builder.leaf(kListOpsMax);
  EXPECT_EQ(refusal_of<UsageError>([&] { evaluate_listops(builder.finish()); }),
            start + "more are needed after 1 tokens");
}

TEST(ListOps, HistogramAndBaselineCountTheTrees) {
  const std::vector<Tree> trees = {parse("3"), parse("[MAX 3 1 ]"), parse("[MIN 1 [SM 1 2 ] ]"), parse("[SM 9 9 ]")};
  EXPECT_EQ(listops_depth_histogram(trees), (std::vector<std::int64_t>{1, 2, 1}));
  EXPECT_DOUBLE_EQ(majority_baseline(trees), 0.5);
  EXPECT_TRUE(listops_depth_histogram({}).empty());
  EXPECT_EQ(majority_baseline({}), 0.0);
}

TEST(ListOpsGenerator, SameSeedSameExpressionsOtherSeedOthers) {
  const std::vector<Tree> trees = generate_listops({.seed = 5}, 300);
  EXPECT_EQ(trees, generate_listops({.seed = 5}, 300));
  EXPECT_NE(trees, generate_listops({.seed = 6}, 300));
}

TEST(ListOpsGenerator, ExpressionsAreDistinctAndWithinTheLimits) {
  const std::vector<Tree> trees = generate_listops({.seed = 1}, 20'000);
  std::set<std::string> seen;
  for (const Tree& tree : trees) {
    EXPECT_TRUE(seen.insert(flat(tree)).second);
    EXPECT_LE(tree.leaf_count(), 100);
    EXPECT_LE(listops_depth(tree), 19);
    EXPECT_EQ(tree.label(), evaluate_listops(tree));
  }
  EXPECT_EQ(seen.size(), 20'000u);

  for (const Tree& tree : generate_listops({.seed = 1, .max_tokens = 12, .max_depth = 3, .max_args = 3}, 2000)) {
    EXPECT_LE(tree.leaf_count(), 12);
    EXPECT_LE(listops_depth(tree), 2);
  }
}

// How often each operator, each number of arguments and each digit occurs.
struct Counts {
  std::array<std::int64_t, 4> by_operator{};
  std::map<std::int64_t, std::int64_t> by_arguments;
  std::array<std::int64_t, 10> by_digit{};
};

Counts count(const std::vector<Tree>& trees) {
  Counts counts;
  for (const Tree& tree : trees) {
    std::vector<std::int64_t> open;
    for (std::int32_t node = 0; node < tree.size(); ++node) {
      const std::int32_t token = tree.token(node);
      if (token == kNone) continue;
      if (token == kListOpsEnd) {
        ++counts.by_arguments[open.back()];
        open.pop_back();
        continue;
      }
      if (!open.empty()) ++open.back();
      if (token >= kListOpsMin) {
        ++counts.by_operator[static_cast<std::size_t>(token - kListOpsMin)];
        open.push_back(0);
      } else {
        ++counts.by_digit[static_cast<std::size_t>(token)];
      }
    }
  }
  return counts;
}

// Three standard deviations and a half: with a fixed seed a bound on the code, not on luck.
void expect_share(std::int64_t part, std::int64_t whole, double expected, const std::string& what) {
  const auto n = static_cast<double>(whole);
  EXPECT_NEAR(static_cast<double>(part) / n, expected, 3.5 * std::sqrt(expected * (1 - expected) / n)) << what;
}

TEST(ListOpsGenerator, DrawsOperatorsAndDigitsEvenly) {
  const Counts counts = count(generate_listops({.seed = 3}, 30'000));
  const std::int64_t operators =
      counts.by_operator[0] + counts.by_operator[1] + counts.by_operator[2] + counts.by_operator[3];
  for (std::size_t i = 0; i < 4; ++i) expect_share(counts.by_operator[i], operators, 0.25, "operator");
  std::int64_t digits = 0;
  for (const std::int64_t n : counts.by_digit) digits += n;
  for (std::size_t i = 0; i < 10; ++i) expect_share(counts.by_digit[i], digits, 0.1, "digit");
}

// Distinctness and a length limit change the shares of the plain grammar. In these lists of up to 40 arguments neither
// binds (only the shortest are ever drawn twice), so the probabilities themselves show.
constexpr ListOpsOptions kLongLists{.seed = 4, .max_tokens = 100'000, .max_depth = 3, .max_args = 40};

TEST(ListOpsGenerator, DrawsTheNumberOfArgumentsEvenly) {
  const Counts counts = count(generate_listops(kLongLists, 4000));
  EXPECT_EQ(counts.by_arguments.begin()->first, 2);
  EXPECT_EQ(counts.by_arguments.rbegin()->first, 40);
  std::int64_t lists = 0;
  for (const auto& [arguments, n] : counts.by_arguments) lists += n;
  for (std::int64_t arguments = 5; arguments <= 40; ++arguments)
    expect_share(counts.by_arguments.at(arguments), lists, 1.0 / 39, "arguments " + std::to_string(arguments));
}

TEST(ListOpsGenerator, ArgumentsAreOperatorsOneTimeInFour) {
  std::int64_t operators = 0;
  std::int64_t arguments = 0;
  for (const Tree& tree : generate_listops(kLongLists, 4000)) {
    std::int32_t depth = 0;
    std::int64_t here = 0;
    std::int64_t nested = 0;
    for (std::int32_t node = 0; node < tree.size(); ++node) {
      const std::int32_t token = tree.token(node);
      if (token == kNone) continue;
      if (token == kListOpsEnd) {
        --depth;
        continue;
      }
      if (depth == 1) ++here;
      if (token >= kListOpsMin) {
        if (depth == 1) ++nested;
        ++depth;
      }
    }
    if (here < 5) continue;
    arguments += here;
    operators += nested;
  }
  expect_share(operators, arguments, 0.25, "operators among arguments");
}

TEST(ListOpsGenerator, AllSmallExpressionsAreFound) {
  // 10 digits, and 4 operators over two digits.
  const std::vector<Tree> trees = generate_listops({.seed = 1, .max_tokens = 4}, 410);
  EXPECT_EQ(listops_depth_histogram(trees), (std::vector<std::int64_t>{10, 400}));
}

TEST(ListOpsGenerator, MoreThanThereAreIsRefused) {
  EXPECT_EQ(
      refusal_of<UsageError>([] { generate_listops({.seed = 1, .max_tokens = 4}, 411); }),
      "listops: 411 distinct expressions asked for, only 410 found with max_tokens 4, max_depth 20, max_args 5 and "
      "operator_probability 0.25");
}

TEST(ListOpsGenerator, OptionsOutsideTheirRangeAreRefused) {
  EXPECT_EQ(refusal_of<UsageError>([] { generate_listops({}, -1); }),
            "listops: the number of expressions must be 0 or more, not -1");
  EXPECT_EQ(refusal_of<UsageError>([] { generate_listops({.max_tokens = 0}, 1); }),
            "listops: max_tokens must be 1 or more, not 0");
  EXPECT_EQ(refusal_of<UsageError>([] { generate_listops({.max_depth = 0}, 1); }),
            "listops: max_depth must be 1 or more, not 0");
  EXPECT_EQ(refusal_of<UsageError>([] { generate_listops({.max_args = 1}, 1); }),
            "listops: max_args must be 2 or more, not 1");
  EXPECT_EQ(refusal_of<UsageError>([] { generate_listops({.operator_probability = 1.5}, 1); }),
            "listops: operator_probability must be 0 to 1, not 1.5");
  EXPECT_EQ(refusal_of<UsageError>([] { generate_listops({.operator_probability = std::nan("")}, 1); }),
            "listops: operator_probability must be 0 to 1, not nan");
  EXPECT_EQ(refusal_of<UsageError>([] { generate_listops_split({}, 10, -1); }),
            "listops: the number of expressions must be 0 or more, not -1");
  EXPECT_TRUE(generate_listops({}, 0).empty());
}

TEST(ListOpsGenerator, TheSplitSharesNoExpressionAndNoDifferenceInDepth) {
  const ListOpsSplit split = generate_listops_split({.seed = 2}, 20'000, 5000);
  EXPECT_EQ(split.train.size(), 20'000u);
  EXPECT_EQ(split.held_out.size(), 5000u);
  std::set<std::string> seen;
  double train_depth = 0;
  double held_out_depth = 0;
  for (const Tree& tree : split.train) {
    seen.insert(flat(tree));
    train_depth += listops_depth(tree) / 20'000.0;
  }
  for (const Tree& tree : split.held_out) {
    EXPECT_FALSE(seen.contains(flat(tree)));
    held_out_depth += listops_depth(tree) / 5000.0;
  }
  EXPECT_NEAR(train_depth, held_out_depth, 0.15);
}

// A change here changes every run that names a seed: say so in the change log.
TEST(ListOpsGenerator, TheFirstExpressionsOfSeedOneStayTheSame) {
  std::vector<std::string> texts;
  for (const Tree& tree : generate_listops({.seed = 1, .max_tokens = 20}, 500)) texts.push_back(flat(tree));
  texts.resize(5);
  EXPECT_EQ(texts, (std::vector<std::string>{"[SM 5 4 8 0 ] ", "[MED 2 8 5 ] ", "[MED 2 3 ] ", "[MAX 3 6 5 8 1 ] ",
                                             "[MIN 5 9 0 [MED 3 7 ] 3 ] "}));
}

TEST(ListOps, AMillionNodesInAChainAreEvaluated) {
  constexpr std::size_t kLists = 170'000;
  std::vector<std::int32_t> tokens;
  for (std::size_t i = 0; i < kLists; ++i) tokens.insert(tokens.end(), {kListOpsSum, 1});
  tokens.push_back(0);
  tokens.insert(tokens.end(), kLists, kListOpsEnd);
  const Tree deep = listops_tree(tokens);
  EXPECT_GT(deep.size(), 1'000'000);
  EXPECT_EQ(evaluate_listops(deep), 0);
  EXPECT_EQ(listops_depth(deep), static_cast<std::int32_t>(kLists));

  std::vector<std::int32_t> wide(500'001, 3);
  wide.front() = kListOpsMed;
  wide.push_back(kListOpsEnd);
  EXPECT_EQ(evaluate_listops(listops_tree(wide)), 3);
}

}  // namespace
}  // namespace espalier::data
