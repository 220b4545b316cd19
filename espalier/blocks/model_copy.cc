#include "espalier/blocks/model_copy.h"

#include <unordered_map>
#include <utility>

namespace espalier::blocks {
namespace {

class Copier {
 public:
  explicit Copier(ModelCopy& to) : to_(to) {}

  void add(const BlockNode& original) {
    if (node_of_.contains(&original)) return;
    std::unique_ptr<BlockNode> copy = original.copy(original);
    node_of_.emplace(&original, copy.get());
    to_.nodes.push_back(copy.get());
    to_.pool->nodes.push_back(std::move(copy));
    for (const Child& child : original.children) add(*child.node);
  }
  void connect() {
    for (BlockNode* node : to_.nodes) {
      for (Child& child : node->children) child.node = node_of_.at(child.node);
      if (const auto parent = node_of_.find(node->parent); parent != node_of_.end()) node->parent = parent->second;
      node->in = term(node->in);
      node->out = term(node->out);
    }
  }

 private:
  /// Terms that were made equal become one. Blocks outside the model no longer watch it.
  Term* term(Term* original) {
    original = resolve(original);
    const auto [known, is_new] = term_of_.try_emplace(original, nullptr);
    if (!is_new) return known->second;
    Term* const copy = to_.pool->term();
    known->second = copy;
    *copy = *original;
    for (Term*& item : copy->items) item = term(item);
    if (copy->element != nullptr) copy->element = term(copy->element);
    copy->watchers.clear();
    for (BlockNode* watcher : original->watchers)
      if (const auto inside = node_of_.find(watcher); inside != node_of_.end())
        copy->watchers.push_back(inside->second);
    return copy;
  }

  ModelCopy& to_;
  std::unordered_map<const BlockNode*, BlockNode*> node_of_;
  std::unordered_map<const Term*, Term*> term_of_;
};

}  // namespace

ModelCopy copy_model(const BlockNode& root) {
  ModelCopy result{std::make_shared<Pool>(), {}};
  Copier copier(result);
  copier.add(root);
  copier.connect();
  return result;
}

}  // namespace espalier::blocks
