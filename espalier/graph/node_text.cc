/// What a graph says about itself: nodes as text, and where a refused operation came from.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "espalier/graph/graph.h"

namespace espalier {

std::string Recorder::type_text(NodeId node) const {
  return type(node).to_string() + (is_many(node) ? fmt::format(" x {}", rows(node)) : "");
}

std::string Recorder::located(const OpInfo& info, const std::string& sentence, std::span<const NodeId> operands,
                              SourceLine where) const {
  constexpr std::size_t kShown = 4;
  std::size_t name_width = 0;
  std::size_t type_width = 0;
  const std::size_t shown = std::min(operands.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    name_width = std::max(name_width, info.operand_name(i).size() + 1);
    type_width = std::max(type_width, type_text(operands[i]).size());
  }
  std::string text = sentence;
  for (std::size_t i = 0; i < shown; ++i) {
    const NodeId node = operands[i];
    text += fmt::format("\n  {:{}} {:{}}  {}", info.operand_name(i) + ":", name_width, type_text(node), type_width,
                        describe(node));
    if (parameter_of(node) == nullptr) text += "  " + source(node).to_string();
  }
  if (operands.size() > shown) text += fmt::format("\n  and {} more", operands.size() - shown);
  text += fmt::format("\n  at {}", where.to_string());
  if (instances_ > 0) text += fmt::format(", in instance {}", instances_ - 1);
  return text;
}

std::string Recorder::describe(NodeId node) const {
  if (const Parameter* parameter = parameter_of(node)) return fmt::format("parameter \"{}\"", parameter->name());
  constexpr std::size_t kShown = 6;
  std::string text = fmt::format("node {} = {}(", index_of(node), signature(node).info->name);
  const std::span<const NodeId> in = inputs(node);
  for (std::size_t i = 0; i < std::min(in.size(), kShown); ++i) {
    const Parameter* parameter = parameter_of(in[i]);
    text += fmt::format(
        "{}{}", i == 0 ? "" : ", ",
        parameter != nullptr ? fmt::format("\"{}\"", parameter->name()) : fmt::format("node {}", index_of(in[i])));
  }
  if (in.size() > kShown) text += fmt::format(", and {} more", in.size() - kShown);
  return text + ")";
}

std::string Graph::list_nodes() const {
  std::set<SignatureId> used;  // those of nodes before clear() may be known too
  for (std::int32_t i = 0; i < size(); ++i) used.insert(signature_id(NodeId{i}));
  std::string text = fmt::format("graph of {} nodes, {} signatures, {} instances\n", size(), used.size(), instances_);
  for (std::int32_t i = 0; i < size(); ++i) {
    const NodeId node{i};
    text += fmt::format("  {:<52} {}", describe(node), type_text(node));
    if (instance(node) == kJoint)
      text += "  joint";
    else if (instance(node) != kNoInstance)
      text += fmt::format("  instance {}", index_of(instance(node)));
    if (parameter_of(node) == nullptr) text += "  " + source(node).to_string();
    text += '\n';
  }
  return text;
}

}  // namespace espalier
