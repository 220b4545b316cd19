/// ListOps: nested MIN, MAX, MED and SM over digits, whose value can only be found along the tree.
///
/// Source: Nangia and Bowman, "ListOps: A Diagnostic Dataset for Latent Tree Learning", NAACL student workshop 2018.
/// An expression is a digit, or an operator with two or more arguments: `[MAX 2 9 [MIN 4 7 ] ]` is 9. SM is the sum
/// modulo 10; MED is the median, of an even number of arguments the mean of the middle two, rounded down.
///
/// As a Tree an expression is binary, leaning left inside each list as published: ((((op a1) a2) ...) "]"). Leaves
/// carry tokens, the root carries the value as its label, nothing else is labelled. In a file there is one expression a
/// line, its value, a tab, and the tree with every token and parenthesis separated by one space:
///
///     9<TAB>( ( ( ( [MAX 2 ) 9 ) ( ( ( [MIN 4 ) 7 ) ] ) ) ] )
///
/// Thread safety: the functions are pure; a ListOpsReader belongs to one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/tree.h"

namespace espalier::data {

/// The vocabulary, by token: the token of a digit is its value.
inline constexpr std::array<std::string_view, 15> kListOpsWords = {"0", "1", "2",    "3",    "4",    "5",   "6", "7",
                                                                   "8", "9", "[MIN", "[MAX", "[MED", "[SM", "]"};
inline constexpr std::int32_t kListOpsMin = 10;
inline constexpr std::int32_t kListOpsMax = 11;
inline constexpr std::int32_t kListOpsMed = 12;
inline constexpr std::int32_t kListOpsSum = 13;
inline constexpr std::int32_t kListOpsEnd = 14;
/// The labels are the digits.
inline constexpr std::int32_t kListOpsLabels = 10;

/// Defaults: the published grammar, limited to 100 tokens.
struct ListOpsOptions {
  std::uint64_t seed = 1;
  /// Longer expressions are drawn again. Every token counts, parentheses do not.
  std::int32_t max_tokens = 100;
  /// At this depth there are only digits; the root is at depth 1. So operators nest max_depth - 1 deep at most.
  std::int32_t max_depth = 20;
  /// An operator has 2 to max_args arguments, evenly.
  std::int32_t max_args = 5;
  double operator_probability = 0.25;
};

/// `count` distinct expressions in random order, the same for the same options on every machine.
///
/// Each is drawn from the grammar, and drawn again if it is there already; so the more are asked for, the longer they
/// are on average. Refuses (UsageError) options outside their range, and a count that the grammar cannot give: when
/// five million draws in a row brought nothing new.
ESPALIER_EXPORT std::vector<Tree> generate_listops(const ListOpsOptions& options, std::int64_t count);

struct ListOpsSplit {
  std::vector<Tree> train;
  std::vector<Tree> held_out;
};

/// Two sets of one distribution with no expression in both: generate_listops() of both counts, divided at random.
ESPALIER_EXPORT ListOpsSplit generate_listops_split(const ListOpsOptions& options, std::int64_t train_count,
                                                    std::int64_t held_out_count);

/// The tree of an expression given by its tokens from left to right. Refuses (UsageError) what is not one expression.
ESPALIER_EXPORT Tree listops_tree(std::span<const std::int32_t> tokens);

/// The value of the expression, 0 to 9, computed from its tokens. Refuses (UsageError) a tree that is not one.
ESPALIER_EXPORT std::int32_t evaluate_listops(const Tree& tree);

/// How deep operators nest: 0 for a digit, 1 for `[MAX 1 2 ]`.
ESPALIER_EXPORT std::int32_t listops_depth(const Tree& tree);

/// How many expressions have depth 0, 1, ..., up to the largest depth there is.
ESPALIER_EXPORT std::vector<std::int64_t> listops_depth_histogram(std::span<const Tree> trees);

/// The share of the most common label, which is the accuracy of always answering that; 0 for no trees.
ESPALIER_EXPORT double majority_baseline(std::span<const Tree> trees);

/// The tree with its parentheses, as in a file, without the label.
ESPALIER_EXPORT std::string listops_text(const Tree& tree);

/// Reads a file of expressions (plain or gzip) one by one and checks each: syntax, form and value. Refuses a line that
/// is wrong with a DataError, "file:line:column: expected ...", and an unreadable file with a ResourceError.
class ESPALIER_EXPORT ListOpsReader {
 public:
  explicit ListOpsReader(std::filesystem::path path);
  ~ListOpsReader();
  ListOpsReader(const ListOpsReader&) = delete;
  ListOpsReader& operator=(const ListOpsReader&) = delete;

  /// The next expression, nothing at the end of the file.
  std::optional<Tree> next();

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

/// All expressions of a file. Refuses (DataError) also a file without any.
ESPALIER_EXPORT std::vector<Tree> read_listops(const std::filesystem::path& path);

/// Writes the file all or nothing, gzip-compressed if its name ends with ".gz".
ESPALIER_EXPORT void write_listops(const std::filesystem::path& path, std::span<const Tree> trees);

}  // namespace espalier::data
