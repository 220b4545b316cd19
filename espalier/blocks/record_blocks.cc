/// record(), all_of(), identity(), nothing().
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/blocks/access.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/composition.h"
#include "espalier/blocks/record_node.h"

namespace espalier::blocks {
namespace {

class AllOfNode : public BlockNode {
 public:
  std::string label() const override { return fmt::format("all_of({} blocks)", children.size()); }
  void infer(Inference& types) override {
    std::vector<Term*> items;
    for (const Child& child : children) {
      types.equal(*this, in, "it is given", child.node->in, child.node->title() + " takes");
      items.push_back(child.node->out);
    }
    types.output_is(*this, items.empty() ? types.nothing() : types.tuple(std::move(items)));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers*) override {
    Registers all;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const Registers part = to.emit_child(*this, i, in_registers);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  bool ignores_input() const override { return children.empty(); }
};

class IdentityNode : public BlockNode {
 public:
  std::string label() const override { return "identity()"; }
  void infer(Inference& types) override { types.equal(*this, in, "it is given", out, "its output must be"); }
  Registers emit(Emitter&, const Registers& in_registers, const Registers*) override { return in_registers; }
};

class NothingNode : public BlockNode {
 public:
  std::string label() const override { return "nothing()"; }
  void infer(Inference& types) override { types.output_is(*this, types.nothing()); }
  Registers emit(Emitter&, const Registers&, const Registers*) override { return {}; }
  bool ignores_input() const override { return true; }
};

Block record_of(const std::vector<NamedChild>& children, bool by_name, SourceLine where) {
  return make_block<RecordNode>(where, children, by_name);
}

}  // namespace

std::string RecordNode::label() const {
  std::string keys;
  if (!by_name_) return fmt::format("record({} blocks)", children.size());
  for (const Child& child : children) keys += (keys.empty() ? "\"" : ", \"") + child.label + "\"";
  return "record(" + keys + ")";
}

std::size_t RecordNode::find(const std::string& key) const {
  std::size_t i = 0;
  while (i < children.size() && this->key(i) != key) ++i;
  return i;
}

void RecordNode::infer(Inference& types) {
  std::vector<Term*> items;
  for (const Child& child : children) items.push_back(child.node->out);
  types.output_is(*this, types.tuple(items));
  Term* given = types.look(in, *this);
  switch (given->kind) {
    case Term::Kind::kUnknown: return;
    case Term::Kind::kTuple:
      if (given->items.size() != children.size())
        types.refuse(*this, fmt::format("it has {} blocks, but its input has {} items: {}", children.size(),
                                        given->items.size(), to_text(given)));
      for (std::size_t i = 0; i < children.size(); ++i)
        types.equal(*this, given->items[i], fmt::format("item {} of its input is", i), children[i].node->in,
                    children[i].node->title() + " takes");
      return;
    case Term::Kind::kInput:
      if (!by_name_ && !given->input->fields.empty() && given->input->fields.size() != children.size())
        types.refuse(*this, fmt::format("it has {} blocks, but its input has {} fields: {}", children.size(),
                                        given->input->fields.size(), to_text(given)));
      for (std::size_t i = 0; i < children.size(); ++i)
        types.equal(
            *this, types.input(part_type(types, *this, *given->input, key(i), static_cast<std::int64_t>(i))),
            by_name_ ? fmt::format("field \"{}\" of its input is", key(i)) : fmt::format("field {} of its input is", i),
            children[i].node->in, children[i].node->title() + " takes");
      return;
    default: types.refuse_kind(*this, given, "data (input<T>) or a tuple");
  }
}

Registers RecordNode::emit(Emitter& to, const Registers& in_registers, const Registers* /*want*/) {
  Term* given = resolve(in);
  if (given->is(Term::Kind::kInput) && !by_name_ && given->input->fields.empty())
    emit_require_size(to, *given->input, std::ssize(children), in_registers[0]);
  Registers all;
  std::int32_t begin = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    Registers part;
    if (given->is(Term::Kind::kInput)) {
      if (Emitter::width(children[i].node->in) > 0) {
        part = to.registers(1);
        emit_access(to, *given->input, key(i), static_cast<std::int64_t>(i), in_registers[0], part[0]);
      }
    } else {
      const std::int32_t width = Emitter::width(given->items[i]);
      part.assign(in_registers.begin() + begin, in_registers.begin() + begin + width);
      begin += width;
    }
    const Registers results = to.emit_child(*this, i, part);
    all.insert(all.end(), results.begin(), results.end());
  }
  return all;
}

Block record(const std::vector<Field>& fields, const char* file, std::int32_t line) {
  std::vector<NamedChild> children;
  children.reserve(fields.size());
  for (const Field& field : fields) {
    if (field.name.empty())
      throw UsageError("record: the name of a field is empty\n  at " + SourceLine{file, line}.to_string());
    children.push_back({field.block.block(), field.name});
  }
  return record_of(children, true, {file, line});
}

Block record(std::initializer_list<Field> fields, const char* file, std::int32_t line) {
  return record(std::vector<Field>(fields), file, line);
}

Block record(const std::vector<BlockArg>& blocks, const char* file, std::int32_t line) {
  std::vector<NamedChild> children;
  children.reserve(blocks.size());
  for (const BlockArg& block : blocks) children.push_back({block.block()});
  return record_of(children, false, {file, line});
}

Block record(std::initializer_list<BlockArg> blocks, const char* file, std::int32_t line) {
  return record(std::vector<BlockArg>(blocks), file, line);
}

BlockArg::BlockArg(std::initializer_list<BlockArg> items, const char* file, std::int32_t line)
    : block_(record(items, file, line)), where_{file, line} {}

Block all_of(const std::vector<BlockArg>& blocks, const char* file, std::int32_t line) {
  std::vector<NamedChild> children;
  children.reserve(blocks.size());
  for (const BlockArg& block : blocks) children.push_back({block.block()});
  return make_block<AllOfNode>({file, line}, children);
}

Block all_of(std::initializer_list<BlockArg> blocks, const char* file, std::int32_t line) {
  return all_of(std::vector<BlockArg>(blocks), file, line);
}

Block identity(const char* file, std::int32_t line) { return make_block<IdentityNode>({file, line}, {}); }

Block nothing(const char* file, std::int32_t line) { return make_block<NothingNode>({file, line}, {}); }

}  // namespace espalier::blocks
