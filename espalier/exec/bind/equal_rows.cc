#include "espalier/exec/bind/equal_rows.h"

#include <algorithm>

#include "espalier/base/at.h"
#include "espalier/exec/row_index.h"

namespace espalier::exec {
namespace {

struct Memory {
  RowIndex of_table;
  RowIndex of_nodes;

  static Memory& of_thread() {
    thread_local Memory memory;
    return memory;
  }
};

}  // namespace

bool find_equal_rows(const Graph& graph, const NodeTable& table, std::span<const NodeId> nodes,
                     std::vector<std::int32_t>& first) {
  first.clear();
  const auto may_be_equal = [&](NodeId node) { return may_have_equal_rows(graph, graph.inputs(node)[0]); };
  if (std::none_of(nodes.begin(), nodes.end(), may_be_equal)) return false;
  const auto has_wanted_state = [&](NodeId node) {
    for (std::int32_t k = 0; k < graph.signature(node).info->results; ++k)
      if (table.is_wanted(NodeId{index_of(node) + k})) return true;
    return false;
  };
  Memory& memory = Memory::of_thread();
  memory.of_table.clear();
  memory.of_nodes.clear();
  NodeId looked_up{-1};  // the table whose rows are compared: the first that is met
  std::int32_t next = 0;
  bool any = false;
  const auto add = [&](std::int32_t equal) {
    any |= equal != next;
    first.push_back(equal);
    ++next;
  };
  for (const NodeId node : nodes) {
    const NodeId x = graph.inputs(node)[0];
    const OpInfo& info = *graph.signature(x).info;
    const std::span<const NodeId> from = graph.inputs(x);
    const std::int32_t rows = graph.rows(x);
    // Each row of a wanted state has its own gradient, even if two rows of a structure read the same row of x.
    if (has_wanted_state(node)) {
      for (std::int32_t r = 0; r < rows; ++r) first.push_back(~next++);
      continue;
    }
    const bool is_alone = table.is_wanted(x);
    if (!is_alone && info.table_row != nullptr && graph.shared(from[0]) &&
        (index_of(looked_up) < 0 || looked_up == from[0])) {
      looked_up = from[0];
      for (std::int64_t r = 0; r < rows; ++r)
        add(memory.of_table.find_or_add(info.table_row(graph.fields(x, r)), next));
    } else if (!is_alone && info.row_an_operand && static_cast<std::int32_t>(from.size()) == rows) {
      for (const NodeId source : from) add(memory.of_nodes.find_or_add(index_of(table.same[at(source)]), next));
    } else {
      for (std::int32_t r = 0; r < rows; ++r) add(next);
    }
  }
  return any;
}

bool may_have_equal_rows(const Graph& graph, NodeId node) {
  const OpInfo& info = *graph.signature(node).info;
  const bool is_recursion = info.kind == Kind::kResult || (info.kind == Kind::kCell && info.takes_whole);
  return graph.is_many(node) && graph.options().memoise != Memoise::kOff &&
         (info.table_row != nullptr || info.row_an_operand || is_recursion);
}

}  // namespace espalier::exec
