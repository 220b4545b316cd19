/// Emitter: turns blocks whose types are known into Code.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "espalier/blocks/code.h"
#include "espalier/blocks/node.h"

namespace espalier::blocks {

class Emitter {
 public:
  /// Blocks that have one of these names or paths are also collected, as if tap() followed them.
  Emitter(Code& code, std::vector<std::string> watched) : code_(code), watched_(std::move(watched)) {}

  /// Writes a whole model. The walk is given an object of type `given`, from which the input of `root` is read.
  void emit_root(BlockNode& root, const InputType& given);

  // --- for blocks ----------------------------------------------------------------------------------------------------

  /// Writes a block inside another. With `want`, the result is in those registers.
  Registers emit(BlockNode& node, const Registers& in, const Registers* want = nullptr);
  /// A block inside another, by its place: adds what it is called there to the path.
  Registers emit_child(const BlockNode& parent, std::size_t child, const Registers& in,
                       const Registers* want = nullptr);
  /// A call of the body of a declaration.
  Registers emit_call(BlockNode& body, const std::string& name, const Registers& in, const Registers* want);

  Registers registers(std::int32_t count);
  /// `want`, or new ones for a value of this type.
  Registers result(Term* type, const Registers* want);
  /// So many slots has a value of this type.
  static std::int32_t width(Term* type);

  /// Adds an instruction; its place is what jumps need.
  std::int32_t add(Step step, const Registers& in, const Registers& out, const void* data = nullptr);
  /// One that always goes on with the next.
  template <void (*call)(Walk&, const Instruction&)>
  std::int32_t native(const Registers& in, const Registers& out, const void* data = nullptr) {
    const auto step = [](Walk& walk, const Instruction& at) {
      call(walk, at);
      return &at + 1;
    };
    return add(step, in, out, data);
  }
  void move(const Registers& from, const Registers& to);
  /// The place of the next instruction, to be jumped to.
  std::int32_t here() { return target_ = size(); }
  std::int32_t jump();
  /// Says where an instruction goes on if not with the next.
  void jump_to(std::int32_t at, std::int32_t target) { targets_[static_cast<std::size_t>(at)] = target; }
  /// Lets a pointer, which stays where it is, be to this instruction when all are written.
  void refer(const Instruction*& from, std::int32_t target) { references_.push_back({&from, target}); }
  Instruction& instruction(std::int32_t at) { return code_.instructions[static_cast<std::size_t>(at)]; }

  /// Keeps data of an instruction as long as the code.
  template <class T>
  T* own(T object) {
    auto owned = std::make_shared<T>(std::move(object));
    code_.owned.push_back(owned);
    return owned.get();
  }
  std::int32_t new_hint() { return code_.hints++; }
  /// The number under which a block remembers: one for all places where it is used.
  std::int32_t memo_of(const BlockNode& node) {
    return memos_.try_emplace(&node, static_cast<std::int32_t>(memos_.size())).first->second;
  }
  Code& code() { return code_; }

 private:
  struct Body {
    Procedure* procedure = nullptr;
    BlockNode* node = nullptr;
    std::string name;
  };

  struct Reference {
    const Instruction** from;
    std::int32_t target;
  };

  std::int32_t size() const { return static_cast<std::int32_t>(code_.instructions.size()); }
  const Offset* list(const Registers& registers);
  void write(Body& body);
  void end_frame(Procedure& procedure);
  /// The last instruction, if it has this step, makes this register, and always comes before the next: what follows may
  /// be made a part of it. Else null.
  Instruction* last(Step step, std::int32_t makes);
  /// Makes places pointers.
  void link();
  bool is_watched(const BlockNode& node) const;
  std::int32_t enter(const std::string& part);

  Code& code_;
  std::vector<std::string> watched_;
  std::int32_t next_register_ = 0;
  std::int32_t target_ = 0;  // the last place that was asked for
  std::int32_t path_ = 0;
  std::string label_;
  std::unordered_map<BlockNode*, std::size_t> body_of_;
  std::vector<Body> bodies_;
  std::vector<std::int32_t> calls_;    // of the body that is written
  std::vector<std::int32_t> targets_;  // of each instruction; -1: none
  std::vector<Reference> references_;
  std::unordered_map<const BlockNode*, std::int32_t> memos_;
};

}  // namespace espalier::blocks
