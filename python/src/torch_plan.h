/// How the nodes of a batch that have not run are to run: their steps, the order of rows in each, and where the rows of
/// its operands come from.
///
/// The results of a step are *blocks* of rows. A block is divided into segments: rows that have their first use in
/// the same later step lie together, in the order in which that step wants them. So most operands are a concatenation
/// of segments, each of which is read once; only what is used again takes rows out of a whole block.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/strategy.h"
#include "torch_recording.h"

namespace espalier::python {

constexpr std::int32_t kNoPart = -1;

/// A tensor of rows to concatenate: a segment, or (-1) a whole block; if `rows` is a part of the plan's numbers, these
/// rows of it.
struct TorchPiece {
  std::int32_t block;
  std::int32_t result;
  std::int32_t segment;
  std::int32_t rows;
};

/// The rows of all operands of one kind, operand after operand: pieces, concatenated, and, unless they are in order,
/// taken by `index`, a part of the plan's numbers.
struct TorchGather {
  std::vector<std::int32_t> operands;
  std::vector<TorchPiece> pieces;
  std::int32_t index = kNoPart;
};

struct TorchStep {
  std::int32_t signature = 0;
  std::int32_t block = 0;
  std::int32_t nodes = 0;
  std::vector<TorchGather> gathers;
  std::vector<std::int32_t> segments;  // how many rows each has
  std::int32_t fields = kNoPart;       // a part of the numbers: the field of each row
  std::int32_t lists = kNoPart;        // of operands of any number: the row that each belongs to ...
  std::int32_t list_length = 0;        // ... or, where all have as many, how many
};

struct TorchPlan {
  std::vector<TorchStep> steps;
  std::vector<std::int64_t> numbers;  // everything that must go to the device, in one piece ...
  std::vector<std::int64_t> parts;    // ... and how long its parts are
  std::vector<std::int32_t> nodes;    // by step and row
  std::vector<std::int32_t> step_begin;
  std::vector<TorchPlace> places;  // of the nodes, from the recording's done() on
  std::int64_t bound = 0;
  std::int64_t forced = 0;
  std::int64_t copied_rows = 0;
};

/// Plans everything that has not run. The recording is not changed.
TorchPlan make_torch_plan(const TorchRecording& recording, Strategy strategy);

}  // namespace espalier::python
