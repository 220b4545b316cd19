/// Code: a model of blocks as a flat list of instructions over registers.
///
/// Tuples are gone: their items are registers of their own. What repeats and what chooses are jumps; only declarations
/// (recursion) call, on a stack of the walk's own. An instruction is a function, so that a walk is nothing but calls.
/// Each knows the path of names to its block, for messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/blocks/data_place.h"
#include "espalier/blocks/slot.h"
#include "espalier/blocks/type.h"

namespace espalier::blocks {

class Walk;
struct Instruction;

/// Does what an instruction says, and gives the instruction to go on with: null at the end of the model.
using Step = const Instruction* (*)(Walk& walk, const Instruction& at);

struct Instruction {
  Step step = nullptr;
  const Instruction* other = nullptr;  // goes on there, where its step says so, and not with the next
  const Offset* in = nullptr;          // lists of registers
  const Offset* out = nullptr;
  const void* data = nullptr;
  std::int32_t count = 0;  // of what, and which number, its step knows
  std::int32_t number = 0;
  std::int32_t path = 0;
};

/// The body of a declaration. Its arguments are its first registers.
struct Procedure {
  const Instruction* entry = nullptr;
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
  std::vector<std::int32_t> reads;  // how many registers each instruction has in `in`

  // To find the place of an error in the data.
  const InputType* input = nullptr;  // of an instance
  std::vector<MemberPart> members;   // that get(&T::member) reads

  Arena lists;                                     // of registers
  std::vector<std::shared_ptr<const void>> owned;  // what `data` points to

  std::string path(std::int32_t at) const;
};

}  // namespace espalier::blocks
