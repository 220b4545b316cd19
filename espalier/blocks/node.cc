#include "espalier/blocks/node.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace espalier::blocks {

std::string BlockNode::path() const {
  std::string path;
  for (const BlockNode* node = this; node != nullptr; node = node->parent) {
    for (const std::string& part : {node->name, node->label_in_parent})
      if (!part.empty()) path = path.empty() ? part : fmt::format("{} / {}", part, path);
  }
  return path;
}

std::string BlockNode::title() const { return name.empty() ? label() : label() + " \"" + name + "\""; }

std::shared_ptr<Pool> pool_of(const std::shared_ptr<Pool>& first) {
  std::shared_ptr<Pool> pool = first;
  while (pool->merged != nullptr) pool = pool->merged;
  return pool;
}

void merge(const std::shared_ptr<Pool>& a, const std::shared_ptr<Pool>& b) {
  std::shared_ptr<Pool> large = pool_of(a);
  std::shared_ptr<Pool> small = pool_of(b);
  if (large == small) return;
  if (large->nodes.size() < small->nodes.size()) std::swap(large, small);
  large->nodes.insert(large->nodes.end(), std::make_move_iterator(small->nodes.begin()),
                      std::make_move_iterator(small->nodes.end()));
  // Moving a deque leaves its elements where they are.
  large->taken.push_back(std::move(small->terms));
  for (std::deque<Term>& terms : small->taken) large->taken.push_back(std::move(terms));
  small->nodes.clear();
  small->terms.clear();
  small->taken.clear();
  small->merged = large;
}

}  // namespace espalier::blocks
