#include "espalier/batch/generations.h"

#include <algorithm>
#include <span>

#include "espalier/base/at.h"

namespace espalier::batch {
namespace {

std::span<const std::int32_t> users_of(const SignaturePairs& pairs, std::int32_t signature) {
  const auto begin = at(pairs.begin()[at(signature)]);
  return std::span(pairs.to()).subspan(begin, at(pairs.begin()[at(signature) + 1]) - begin);
}

}  // namespace

template <class AddPair>
void Generations::find(const Graph& graph, const AddPair& add_pair) {
  const std::int32_t size = graph.size();
  const std::int32_t* const signatures = graph.signature.data();
  const std::int32_t* const begins = graph.input_begin.data();
  std::int32_t* const generation = generation_.room(at(size));
  OfSignature* const of = of_.data();
  const std::int32_t* input = graph.inputs.data() + (size > 0 ? begins[0] : 0);
  for (std::int32_t v = 0; v < size; ++v) {
    const std::int32_t signature = signatures[v];
    std::int32_t own = 0;
    for (const std::int32_t* const end = graph.inputs.data() + begins[v + 1]; input != end; ++input) {
      const std::int32_t used = signatures[*input];
      add_pair(used, signature);
      own = std::max(own, used == signature ? generation[*input] + 1 : 0);
    }
    generation[v] = own;
    OfSignature& here = of[signature];
    if (here.nodes == 0) here.first = v;
    ++here.nodes;
    here.generations = std::max(here.generations, own + 1);
  }
}

bool Generations::look_at(const Graph& graph, SignaturePairs& pairs, Components& components) {
  of_.assign(at(graph.signatures), {});
  pairs.clear(graph.signatures);
  if (pairs.by_bits())
    find(graph, pairs.add_bit());
  else
    find(graph, pairs.add_listed());
  pairs.compress();
  components.find(graph.signatures, pairs);
  return components.count() == graph.signatures;
}

/// Users have the smaller components: these are found from the sinks on.
void Generations::order_signatures(const SignaturePairs& pairs, const Components& components) {
  by_component_.resize(of_.size());
  for (std::size_t s = 0; s < of_.size(); ++s)
    by_component_[at(components.component(static_cast<std::int32_t>(s)))] = static_cast<std::int32_t>(s);
  for (const std::int32_t s : by_component_)
    for (const std::int32_t user : users_of(pairs, s)) {
      if (user == s) continue;
      of_[at(s)].height = std::max(of_[at(s)].height, of_[at(user)].height + of_[at(user)].generations);
      ++of_[at(user)].waiting;
    }
  const auto is_later = [&](std::int32_t a, std::int32_t b) {
    const OfSignature& left = of_[at(a)];
    const OfSignature& right = of_[at(b)];
    const std::int32_t left_height = left.height + left.generations;
    const std::int32_t right_height = right.height + right.generations;
    if (left_height != right_height) return left_height < right_height;
    return left.nodes != right.nodes ? left.nodes < right.nodes : left.first > right.first;
  };
  order_.clear();
  ready_.clear();
  const auto add = [&](std::int32_t s) {
    ready_.push_back(s);
    std::push_heap(ready_.begin(), ready_.end(), is_later);
  };
  for (const std::int32_t s : by_component_)
    if (of_[at(s)].waiting == 0 && of_[at(s)].nodes > 0) add(s);
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end(), is_later);
    const std::int32_t s = ready_.back();
    ready_.pop_back();
    order_.push_back(s);
    for (const std::int32_t user : users_of(pairs, s))
      if (user != s && --of_[at(user)].waiting == 0) add(user);
  }
}

Schedule Generations::schedule(const Graph& graph, const SignaturePairs& pairs, const Components& components) {
  order_signatures(pairs, components);
  std::int32_t steps = 0;
  for (OfSignature& of : of_) {
    of.begin = steps;
    steps += of.generations;
  }
  std::int32_t* const next = next_.room(at(steps));
  std::fill_n(next, steps, 0);
  const std::int32_t* const signatures = graph.signature.data();
  const std::int32_t* const generation = generation_.data();
  const OfSignature* const of = of_.data();
  const std::int32_t size = graph.size();
  for (std::int32_t v = 0; v < size; ++v) ++next[of[signatures[v]].begin + generation[v]];

  Schedule result;
  result.step_begin.resize(at(steps) + 1);
  std::size_t step = 0;
  std::int32_t before = 0;
  for (const std::int32_t s : order_)
    for (std::int32_t g = 0; g < of[s].generations; ++g) {
      const std::int32_t rows = next[of[s].begin + g];
      next[of[s].begin + g] = before;
      before += rows;
      result.step_begin[++step] = before;
    }
  result.order.resize(at(size));
  for (std::int32_t v = 0; v < size; ++v) result.order[at(next[of[signatures[v]].begin + generation[v]]++)] = v;
  result.bound = steps;
  return result;
}

}  // namespace espalier::batch
