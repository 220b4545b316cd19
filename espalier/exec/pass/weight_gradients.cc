#include "espalier/exec/pass/weight_gradients.h"

#include <cstddef>
#include <vector>

#include "espalier/exec/stopwatch.h"
#include "espalier/exec/traced.h"

namespace espalier::exec {

DeferredRows& WeightGradients::group_of(SignatureId signature) {
  std::int32_t& number = lists_.group_of[static_cast<std::size_t>(index_of(signature))];
  if (number < 0) {
    number = used_++;
    if (lists_.groups.size() < at(used_)) lists_.groups.emplace_back();
    lists_.groups[at(number)].start(graph_, signature);
  }
  return lists_.groups[at(number)];
}

void WeightGradients::add(const BoundStep& view, const Saved& saved) {
  bool any = false;
  for (std::size_t i = 0; i < view.in().size(); ++i)
    any |= view.is_shared(i) && request_.gets_gradient(view.operand(0, i));
  if (!any) return;
  const NodeId node = view.nodes()[0];
  DeferredRows& group = group_of(graph_.signature_id(node));
  const OpInfo& info = *graph_.signature(node).info;
  // Where there is nothing else, zeros are a gradient too.
  if (!group.empty() && info.moves_shared != nullptr && !info.moves_shared(graph_.attrs(node), saved.in)) return;
  group.add(view, saved);
}

void WeightGradients::run_users_of(NodeId node) {
  for (DeferredRows& group : groups()) {
    if (group.empty()) continue;
    for (NodeId shared : group.shared())
      if (table_.base[at(shared)] == table_.base[at(node)]) {
        run(group);
        break;
      }
  }
}

void WeightGradients::run(DeferredRows& group) {
  if (group.empty()) return;
  KernelWatch watch(graph_.options().profile);
  const OpInfo& info = *graph_.signatures()[group.signature()].info;
  const bool traced = Trace::is_on();
  SpanTimer span(
      traced, [&] { return span_of(graph_, Doing::kWeights, -1); }, info.name);
  std::vector<DeferredRows::Target>& targets = lists_.targets;
  targets.assign(info.inputs.size(), {});
  std::size_t next = 0;
  bool any_stores = false;
  const NodeId sample = group.sample();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const NodeId node = graph_.inputs(sample)[i];
    if (next == group.shared().size() || group.shared()[next] != table_.same[at(node)] || !info.by_identity(i))
      continue;
    ++next;
    if (!request_.gets_gradient(node) || !group.reads(i)) continue;
    places_.ensure_open(node);
    ledger_.next_step();
    const bool is_clean = ledger_.claim(node);
    targets[i] = {reinterpret_cast<float*>(ledger_.where(node)), is_clean && info.stores_shared};
    if (is_clean && !targets[i].store) ledger_.zero(node);
    // The same node twice: whichever is written first, both are added.
    for (std::size_t k = 0; k < i && !is_clean && any_stores; ++k) {
      if (targets[k].data != targets[i].data || !targets[k].store) continue;
      ledger_.zero(node);
      targets[k].store = false;
    }
    any_stores |= targets[i].store;
  }
  group.run(targets);
  watch.stop(info.kind == Kind::kProduct, statistics_.seconds);
}

}  // namespace espalier::exec
