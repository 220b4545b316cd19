#include "espalier/blocks/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/input_blocks.h"
#include "espalier/blocks/record_node.h"

namespace espalier::blocks {
namespace {

constexpr std::size_t kInput = 0;   // the number of its input among the blocks
constexpr std::size_t kOutput = 1;  // and of its output
constexpr std::size_t kFirst = 2;   // of the others

/// One end of a composition.
class EndNode : public BlockNode {
 public:
  explicit EndNode(std::string label) : label_(std::move(label)) {}
  std::string label() const override { return label_; }
  void infer(Inference& types) override { types.equal(*this, in, "it is given", out, "its output must be"); }
  Registers emit(Emitter&, const Registers& in_registers, const Registers*) override { return in_registers; }

 private:
  std::string label_;
};

class CompositionNode : public BlockNode {
 public:
  std::string label() const override { return "composition"; }
  void infer(Inference& types) override {
    types.equal(*this, in, "it is given", children[kInput].node->in, "its blocks take");
    types.equal(*this, children[kOutput].node->out, "its output reads", out, "its output must be");
  }
  void check() const override {
    const std::vector<bool> used = are_read();
    for (std::size_t i = kFirst; i < children.size(); ++i) {
      const BlockNode& node = *children[i].node;
      if (!reads[i] && !node.ignores_input() && !resolve(node.in)->is(Term::Kind::kVoid))
        refuse(fmt::format("{} is not connected to anything that it reads", node.title()));
      if (!used[i] && !resolve(node.out)->is(Term::Kind::kVoid))
        refuse(fmt::format("no block reads {}, which gives {}; nothing() drops an output that is not needed",
                           node.title(), to_text(node.out)));
    }
    if (!reads[kOutput] && !resolve(out)->is(Term::Kind::kVoid)) refuse("its output is not connected");
    static_cast<void>(order());
  }
  /// The blocks, each after those that it reads. Refuses (UsageError) a cycle.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> result{kInput};
    std::vector<bool> done(children.size());
    done[kInput] = true;
    const auto is_ready = [&](std::size_t i) {
      return !done[i] && (!reads[i] || std::all_of(reads[i]->begin(), reads[i]->end(),
                                                   [&](std::size_t from) { return done[from]; }));
    };
    for (bool found = true; found;) {
      found = false;
      for (std::size_t i = 0; i < children.size(); ++i)
        if (is_ready(i)) {
          found = done[i] = true;
          result.push_back(i);
        }
    }
    for (std::size_t i = 0; i < children.size(); ++i)
      if (!done[i]) refuse(fmt::format("{} depends on its own output: a cycle", children[i].node->title()));
    return result;
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers*) override {
    std::vector<Registers> made(children.size());
    made[kInput] = in_registers;
    for (const std::size_t i : order()) {
      if (i == kInput) continue;
      Registers read;
      if (reads[i])
        for (const std::size_t from : *reads[i]) read.insert(read.end(), made[from].begin(), made[from].end());
      made[i] = to.emit_child(*this, i, read);
    }
    return made[kOutput];
  }
  [[noreturn]] void refuse(const std::string& sentence, const SourceLine* line = nullptr) const {
    throw UsageError(fmt::format("{}: {}{}\n  at {}", title(), sentence, path_line(*this),
                                 line != nullptr ? line->to_string() : where.to_string()));
  }

  std::vector<std::optional<std::vector<std::size_t>>> reads;  // of each block, once it is said
  std::map<std::string, std::size_t> names;

 private:
  std::vector<bool> are_read() const {
    std::vector<bool> used(children.size());
    used[kOutput] = true;
    for (const auto& list : reads)
      if (list)
        for (const std::size_t from : *list) used[from] = true;
    return used;
  }
};

CompositionNode& node_of(const Block& composition) { return static_cast<CompositionNode&>(*composition.node()); }

std::size_t add_block(const Block& composition, const Block& block, const std::string& label) {
  CompositionNode& node = node_of(composition);
  take_in(composition, block, label);
  node.reads.emplace_back();
  return node.children.size() - 1;
}

/// Connects block `to` with what it reads.
void connect_blocks(const Block& composition, std::size_t to, const std::vector<std::size_t>& from, SourceLine where) {
  CompositionNode& node = node_of(composition);
  if (to == kInput) node.refuse("its input cannot read a wire", &where);
  for (const std::size_t each : from)
    if (each == kOutput) node.refuse("no block can read its output", &where);
  if (node.reads[to]) node.refuse(fmt::format("{} is connected twice", node.children[to].node->title()), &where);
  if (from.empty()) node.refuse(fmt::format("{} is given no wires to read", node.children[to].node->title()), &where);
  Inference types(*pool_of(composition.pool()), where);
  BlockNode& reader = *node.children[to].node;
  if (from.size() == 1) {
    BlockNode& source = *node.children[from[0]].node;
    types.equal(node, source.out, source.title() + " gives", reader.in, reader.title() + " takes");
  } else {
    std::vector<Term*> items;
    items.reserve(from.size());
    for (const std::size_t each : from) items.push_back(node.children[each].node->out);
    types.equal(node, types.tuple(std::move(items)), "the wires are", reader.in, reader.title() + " takes");
  }
  types.run(node);
  node.reads[to] = from;  // now that nothing was refused
}

/// Takes the newest block out again, because its wires were refused.
void remove_newest(const Block& composition) {
  CompositionNode& node = node_of(composition);
  BlockNode& newest = *node.children.back().node;
  node.children.pop_back();
  node.reads.pop_back();
  const auto is_newest = [&](const Child& child) { return child.node == &newest; };
  if (newest.parent != &node || std::any_of(node.children.begin(), node.children.end(), is_newest)) return;
  newest.parent = nullptr;
  newest.label_in_parent.clear();
}

}  // namespace

Wire Wire::operator[](const WireItem& item) const {
  const SourceLine where = item.where();
  std::optional<Block> part;
  if (!item.key()) {
    part = get(item.place(), where.file(), where.line());
  } else if (const auto* record = dynamic_cast<const RecordNode*>(node_of(composition_).children[child_].node)) {
    const std::size_t place = record->find(*item.key());
    if (place == record->children.size())
      node_of(composition_).refuse(fmt::format("{} has no field \"{}\"", record->title(), *item.key()), &where);
    part = get(static_cast<std::int64_t>(place), where.file(), where.line());
  } else {
    part = get(*item.key(), where.file(), where.line());
  }
  Wire wire(composition_, add_block(composition_, *part, ""));
  try {
    wire.reads(*this, where.file(), where.line());
  } catch (...) {
    remove_newest(composition_);
    throw;
  }
  return wire;
}

const Wire& Wire::reads(const std::vector<Wire>& wires, const char* file, std::int32_t line) const {
  const SourceLine where{file, line};
  std::vector<std::size_t> from;
  for (const Wire& wire : wires) {
    if (wire.composition_.node() != composition_.node())
      node_of(composition_).refuse("the wire belongs to another composition", &where);
    from.push_back(wire.child_);
  }
  connect_blocks(composition_, child_, from, where);
  return *this;
}

const Wire& Wire::reads(std::initializer_list<Wire> wires, const char* file, std::int32_t line) const {
  return reads(std::vector<Wire>(wires), file, line);
}

Composition::Composition(std::string name, const char* file, std::int32_t line)
    : block_(new_block<CompositionNode>({file, line})) {
  block_.node()->name = std::move(name);
  const SourceLine where{file, line};
  add_block(block_, make_block<EndNode>(where, {}, "input"), "");
  add_block(block_, make_block<EndNode>(where, {}, "output"), "");
  rewire(block_, where);
}

Wire Composition::input() const { return {block_, kInput}; }

Wire Composition::output() const { return {block_, kOutput}; }

Wire Composition::add(const BlockArg& block) const { return {block_, add_block(block_, block.block(), scope_)}; }

Wire Composition::operator()(const BlockArg& block, const Wire& wire) const { return (*this)(block, {wire}); }

Wire Composition::operator()(const BlockArg& block, std::initializer_list<Wire> wires) const {
  return (*this)(block, std::vector<Wire>(wires));
}

Wire Composition::operator()(const BlockArg& block, const std::vector<Wire>& wires) const {
  const Wire added = add(block);
  try {
    return added.reads(wires, block.where().file(), block.where().line());
  } catch (...) {
    remove_newest(block_);
    throw;
  }
}

void Composition::connect(const Wire& from, const Wire& to, const char* file, std::int32_t line) const {
  const SourceLine where{file, line};
  if (to.composition_.node() != block_.node())
    node_of(block_).refuse("the wire belongs to another composition", &where);
  to.reads({from}, file, line);
}

void Composition::name(const std::string& name, const Wire& wire) const {
  CompositionNode& node = node_of(block_);
  if (wire.composition_.node() != &node)
    node.refuse(fmt::format("the wire \"{}\" belongs to another composition", name));
  if (!node.names.emplace(name, wire.child_).second) node.refuse(fmt::format("two wires are named \"{}\"", name));
}

Wire Composition::wire(const std::string& name) const {
  const CompositionNode& node = node_of(block_);
  const auto found = node.names.find(name);
  if (found == node.names.end()) node.refuse(fmt::format("no wire is named \"{}\"", name));
  return {block_, found->second};
}

Composition Composition::scope(const std::string& part) const {
  return Composition(block_, scope_.empty() ? part : scope_ + " / " + part);
}

Composition::operator Block() const {
  node_of(block_).order();
  return block_;
}

}  // namespace espalier::blocks
