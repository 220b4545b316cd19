#include "espalier/data/dependency.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "espalier/base/error.h"

namespace espalier::data {

std::optional<HeadError> find_head_error(std::span<const std::int32_t> heads) {
  std::size_t root = heads.size();
  for (std::size_t w = 0; w < heads.size(); ++w) {
    if (heads[w] < 0 || static_cast<std::size_t>(heads[w]) > heads.size())
      return HeadError{w, fmt::format("expected a head from 0 to {}, not {}", heads.size(), heads[w])};
    if (heads[w] != 0) continue;
    if (root < heads.size())
      return HeadError{w, fmt::format("expected one root, but word {} is one and word {} another", root + 1, w + 1)};
    root = w;
  }
  // Each way up is followed once: it ends at the root, at words seen before, or at itself.
  std::vector<std::size_t> seen_from(heads.size(), heads.size());
  for (std::size_t start = 0; start < heads.size(); ++start) {
    for (std::size_t w = start; seen_from[w] == heads.size(); w = static_cast<std::size_t>(heads[w]) - 1) {
      seen_from[w] = start;
      if (heads[w] == 0) break;
      if (seen_from[static_cast<std::size_t>(heads[w]) - 1] == start)
        return HeadError{w, fmt::format("expected heads without a cycle, but word {} is its own ancestor", w + 1)};
    }
  }
  return std::nullopt;
}

Tree dependency_tree(std::span<const std::int32_t> heads) {
  if (const std::optional<HeadError> error = find_head_error(heads))
    throw UsageError("dependencies: " + error->message);
  if (heads.empty()) return {};
  // The dependents of word w (from 1; of the root mark 0) are those from begins[w] to begins[w + 1] - 1.
  std::vector<std::size_t> begins(heads.size() + 2, 0);
  for (const std::int32_t head : heads) ++begins[static_cast<std::size_t>(head) + 1];
  for (std::size_t w = 1; w < begins.size(); ++w) begins[w] += begins[w - 1];
  std::vector<std::size_t> dependents(heads.size());
  std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
  for (std::size_t w = 0; w < heads.size(); ++w) dependents[next[static_cast<std::size_t>(heads[w])]++] = w + 1;

  TreeBuilder builder;
  std::vector<std::pair<std::size_t, std::size_t>> open;  // a word and its next dependent
  open.emplace_back(dependents[0], begins[dependents[0]]);
  while (!open.empty()) {
    auto& [word, child] = open.back();
    if (child < begins[word + 1]) {
      const std::size_t dependent = dependents[child++];
      open.emplace_back(dependent, begins[dependent]);
      continue;
    }
    const auto children = static_cast<std::int32_t>(begins[word + 1] - begins[word]);
    const auto token = static_cast<std::int32_t>(word) - 1;
    if (children == 0) {
      builder.leaf(token);
    } else {
      builder.node(children, kNone, token);
    }
    open.pop_back();
  }
  return builder.finish();
}

}  // namespace espalier::data
