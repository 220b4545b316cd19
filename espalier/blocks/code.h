/// Code: a model of blocks as a flat list of instructions over registers.
///
/// Tuples are gone: their items are registers of their own. What repeats and what chooses are jumps; only declarations
/// (recursion) call, on a stack of the walk's own. Each instruction knows the path of names to its block, for messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/blocks/type.h"

namespace espalier::blocks {

class Walk;
struct Instruction;

enum class Opcode : std::int32_t {
  kNative,     // calls `native`
  kApply,      // calls a function of the user (data: ApplySpec)
  kField,      // reads a member of a struct (data: FieldSpec)
  kMove,       // copies `count` registers
  kJump,       // goes on at `target`
  kChoose,     // goes on at one of several places, as `choose` says (data: ChoiceSpec)
  kNext,       // loads the next element of a sequence, or goes on at `target` when there is none
  kPair,       // loads the next two elements of a round of pairs, or goes on at `target` when one element is left
  kCall,       // data: Procedure
  kCallField,  // kField and kCall (data: FieldCallSpec)
  kReturn,
};

struct Instruction {
  Opcode opcode = Opcode::kNative;
  std::int32_t target = 0;
  std::int32_t count = 0;
  std::int32_t path = 0;
  const std::int32_t* in = nullptr;  // lists of registers
  const std::int32_t* out = nullptr;
  void (*native)(Walk&, const Instruction&) = nullptr;
  const void* data = nullptr;
};

struct ChoiceSpec {
  std::int32_t (*choose)(Walk&, const Instruction&) = nullptr;
  std::vector<std::int32_t> targets;
  const void* data = nullptr;
};

/// The body of a declaration. Its arguments are its first registers.
struct Procedure {
  std::int32_t entry = -1;
  std::int32_t frame = 0;
  std::int32_t arguments = 0;
  std::int32_t results = 0;
};

/// What is collected by name while walking: metrics, losses, and values to look at.
struct Channel {
  std::string name;
  Type type;  // of the values
  bool labelled = false;
  double weight = 1;  // of losses
};

struct Code {
  std::vector<Instruction> instructions;
  Procedure root;
  std::int32_t hints = 0;
  std::vector<Channel> metrics;
  std::vector<Channel> losses;
  std::vector<Channel> taps;

  struct PathEntry {
    std::int32_t parent;
    std::string part;
  };
  std::vector<PathEntry> paths{{-1, ""}};
  std::vector<std::string> labels;  // of the block of each instruction

  Arena lists;                                     // of registers
  std::vector<std::shared_ptr<const void>> owned;  // what `data` points to

  std::string path(std::int32_t at) const;
};

}  // namespace espalier::blocks
