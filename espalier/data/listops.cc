#include "espalier/data/listops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "espalier/base/error.h"
#include "espalier/data/listops_stack.h"

namespace espalier::data {
namespace {

[[noreturn]] void refuse_tokens(std::size_t place, const char* problem) {
  throw UsageError(fmt::format("listops: the tokens are not one expression: {} after {} tokens", problem, place));
}

}  // namespace

Tree listops_tree(std::span<const std::int32_t> tokens) {
  ListOpsStack stack;
  TreeBuilder builder;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int32_t token = tokens[i];
    if (!stack.push(token)) refuse_tokens(i, "one that cannot stand there comes");
    builder.leaf(token);
    if (token == kListOpsEnd) builder.node(2);
    const bool is_operator = token >= kListOpsMin && token < kListOpsEnd;
    if (!is_operator && stack.open_lists() > 0) builder.node(2);
  }
  if (!stack.complete()) refuse_tokens(tokens.size(), "more are needed");
  builder.set_last_label(stack.value());
  return builder.finish();
}

std::int32_t evaluate_listops(const Tree& tree) {
  ListOpsStack stack;
  std::size_t seen = 0;
  for (std::int32_t node = 0; node < tree.size(); ++node) {
    if (!tree.is_leaf(node)) continue;
    if (!stack.push(tree.token(node))) refuse_tokens(seen, "one that cannot stand there comes");
    ++seen;
  }
  if (!stack.complete()) refuse_tokens(seen, "more are needed");
  return stack.value();
}

std::int32_t listops_depth(const Tree& tree) {
  std::int32_t depth = 0;
  std::int32_t deepest = 0;
  for (std::int32_t node = 0; node < tree.size(); ++node) {
    const std::int32_t token = tree.token(node);
    if (token == kListOpsEnd) {
      --depth;
    } else if (token >= kListOpsMin) {
      deepest = std::max(deepest, ++depth);
    }
  }
  return deepest;
}

std::vector<std::int64_t> listops_depth_histogram(std::span<const Tree> trees) {
  std::vector<std::int64_t> counts;
  for (const Tree& tree : trees) {
    const auto depth = static_cast<std::size_t>(listops_depth(tree));
    if (depth >= counts.size()) counts.resize(depth + 1);
    ++counts[depth];
  }
  return counts;
}

double majority_baseline(std::span<const Tree> trees) {
  std::map<std::int32_t, std::int64_t> counts;
  std::int64_t most = 0;
  for (const Tree& tree : trees) most = std::max(most, ++counts[tree.label()]);
  return trees.empty() ? 0.0 : static_cast<double>(most) / static_cast<double>(trees.size());
}

std::string listops_text(const Tree& tree) { return tree.to_string(kListOpsWords); }

}  // namespace espalier::data
