/// What a run has to compute, as integers: the nodes of one plan, what they read, and how large their rows are.
///
/// Equal problems have equal plans, whatever graph they come from: a plan may be kept and used again.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/strategy.h"

namespace espalier::plan {

/// What a plan needs to know about the nodes of one signature.
struct Facts {
  std::int64_t row_bytes = 0;    // of the result
  std::int64_t saved_bytes = 0;  // that forward leaves for backward, a row
  /// Operands that are to lie side by side in one block, a bit each: those of a product whose other side is shared.
  std::uint32_t blocks = 0;
  /// Operands that backward reads, a bit each; of an op with any number of operands, all or none.
  std::uint32_t keeps_inputs = 0;
  bool keeps_output = false;
  bool side_by_side = false;  // the result is the operands, one after the other
  bool is_product = false;    // its rows should be evenly spaced
  bool defers = false;        // the gradients of shared operands are taken of all its rows together, at the end
  bool operator==(const Facts&) const = default;
};

/// How long values must last.
enum class Lifetime : std::int32_t {
  kAll,       // until the graph is cleared
  kTraining,  // those that backward reads, and outputs
  kFinish,    // outputs only
};

/// Node v has operands inputs[input_begin[v]] to inputs[input_begin[v + 1] - 1]; operands come before their users.
struct Problem {
  static constexpr std::int32_t kOutside = -1;  // an operand that was computed before, or is a leaf

  Strategy strategy = Strategy::kFrontier;
  Lifetime lifetime = Lifetime::kAll;
  std::vector<Facts> facts;  // by signature
  /// By signature: the bytes of each operand's row, where they are needed: of ops with blocks or side by side.
  std::vector<std::vector<std::int64_t>> operand_bytes;
  std::vector<std::int32_t> signature;
  std::vector<std::int32_t> input_begin{0};
  std::vector<std::int32_t> inputs;
  std::vector<std::uint8_t> is_part;    // beside inputs: not the whole row is read, but a part of it
  std::vector<std::uint8_t> is_output;  // by node: its value outlives the run

  std::int32_t size() const { return static_cast<std::int32_t>(signature.size()); }
  bool operator==(const Problem&) const = default;

  void clear() {
    facts.clear();
    operand_bytes.clear();
    signature.clear();
    input_begin.assign(1, 0);
    inputs.clear();
    is_part.clear();
    is_output.clear();
  }
};

/// For finding equal problems fast.
std::uint64_t hash_of(const Problem& problem);

}  // namespace espalier::plan
