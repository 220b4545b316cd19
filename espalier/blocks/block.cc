#include "espalier/blocks/block.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/emitter.h"

namespace espalier::blocks {
namespace {

/// Blocks one after the other.
class PipeNode : public BlockNode {
 public:
  std::string label() const override { return "pipe"; }
  void infer(Inference& types) override {
    Term* flowing = in;
    const BlockNode* before = nullptr;
    for (const Child& child : children) {
      types.equal(*this, flowing, before == nullptr ? "it is given" : before->title() + " gives", child.node->in,
                  child.node->title() + " takes");
      flowing = child.node->out;
      before = child.node;
    }
    types.equal(*this, flowing, before->title() + " gives", out, "its output must be");
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers flowing = in_registers;
    for (std::size_t i = 0; i < children.size(); ++i)
      flowing = to.emit_child(*this, i, flowing, i + 1 == children.size() ? want : nullptr);
    return flowing;
  }
};

/// A pipe without a name is no more than its blocks.
void add_parts(const Block& block, std::vector<NamedChild>& to) {
  const auto* pipe = dynamic_cast<const PipeNode*>(block.node());
  if (pipe == nullptr || !pipe->name.empty()) {
    to.push_back({block});
    return;
  }
  for (const Child& child : pipe->children) to.push_back({Block(block.pool(), child.node), child.label});
}

void describe_node(const BlockNode& node, const std::string& label, int depth, std::vector<const BlockNode*>& open,
                   std::string& to) {
  to += fmt::format("{:{}}{}{} : {} -> {}", "", 2 * depth, label.empty() ? "" : label + ": ", node.title(),
                    to_text(node.in), to_text(node.out));
  if (std::find(open.begin(), open.end(), &node) != open.end()) {
    to += "  (as above)\n";
    return;
  }
  to += "\n";
  open.push_back(&node);
  for (const Child& child : node.children) describe_node(*child.node, child.label, depth + 1, open, to);
}

Type known_type(const BlockNode& node, Term* term, const char* which) {
  if (!is_known(term))
    throw UsageError(fmt::format("{}: its {} has type {}, which is not known yet{}", node.title(), which, to_text(term),
                                 path_line(node)));
  return type_of(term);
}

}  // namespace

Block new_block(std::unique_ptr<BlockNode> node, SourceLine where) {
  auto pool = std::make_shared<Pool>();
  BlockNode* raw = node.get();
  raw->in = pool->term();
  raw->out = pool->term();
  raw->where = where;
  pool->nodes.push_back(std::move(node));
  return {std::move(pool), raw};
}

void take_in(const Block& parent, const Block& child, const std::string& label) {
  merge(parent.pool(), child.pool());
  parent.node()->children.push_back({child.node(), label});
  if (child.node()->parent == nullptr && !child.node()->is_declaration()) {
    child.node()->parent = parent.node();
    child.node()->label_in_parent = label;
  }
}

void give_up(const Block& parent) {
  for (const Child& child : parent.node()->children)
    if (child.node->parent == parent.node()) {
      child.node->parent = nullptr;
      child.node->label_in_parent.clear();
    }
  parent.node()->children.clear();
}

void rewire(const Block& block, SourceLine where) {
  Inference types(*pool_of(block.pool()), where);
  types.run(*block.node());
}

Block Block::named(std::string name) const {
  node_->name = std::move(name);
  return *this;
}

Block Block::takes(const Type& input, const char* file, std::int32_t line) const {
  Inference types(*pool_of(pool_), {file, line});
  Term* const wanted = types.of(input);
  types.say(wanted, *node_, true);
  types.equal(*node_, node_->in, "it takes", wanted, "takes() says");
  types.run(*node_);
  return *this;
}

Block Block::gives(const Type& output, const char* file, std::int32_t line) const {
  Inference types(*pool_of(pool_), {file, line});
  Term* const wanted = types.of(output);
  types.say(wanted, *node_, false);
  types.equal(*node_, node_->out, "it gives", wanted, "gives() says");
  types.run(*node_);
  return *this;
}

Type Block::input_type() const { return known_type(*node_, node_->in, "input"); }
Type Block::output_type() const { return known_type(*node_, node_->out, "output"); }
std::string Block::input_text() const { return to_text(node_->in); }
std::string Block::output_text() const { return to_text(node_->out); }
std::string Block::label() const { return node_->title(); }

std::string Block::describe() const {
  std::string text;
  std::vector<const BlockNode*> open;
  describe_node(*node_, "", 0, open, text);
  return text;
}

Block operator>>(const BlockArg& first, const BlockArg& second) {
  std::vector<NamedChild> parts;
  add_parts(first.block(), parts);
  const std::size_t joint = parts.size();
  add_parts(second.block(), parts);
  // Types that do not fit meet at the new joint, which names both sides: so it comes first.
  merge(first.block().pool(), second.block().pool());
  Block pipe = new_block<PipeNode>(first.where());
  merge(pipe.pool(), first.block().pool());
  try {
    Inference types(*pool_of(pipe.pool()), second.where());
    types.equal(*pipe.node(), first.block().node()->out, parts[joint - 1].block.node()->title() + " gives",
                second.block().node()->in, parts[joint].block.node()->title() + " takes");
    for (const NamedChild& part : parts) take_in(pipe, part.block, part.label);
    types.run(*pipe.node());
  } catch (...) {
    give_up(pipe);
    throw;
  }
  return pipe;
}

}  // namespace espalier::blocks
