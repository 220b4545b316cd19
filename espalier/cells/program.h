/// Program: a cell's function as a short list of instructions over the rows of a step, made once for its shapes.
///
/// The instructions are products with weights and, between them, groups of all other ops. A step runs in pieces of some
/// dozens of rows, which stay in the second cache from one product to the next; a group runs in tiles of a few rows,
/// which stay in the first. Nothing is generated: an instruction is a call of its op's kernel on the rows of a tile.
///
/// Words: a *base* is memory of its own, a number of floats a row; a *value* is a base or some columns of one.
///
/// Thread safety: a program never changes once made; running it is for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/graph/op_info.h"
#include "espalier/ops/step.h"

namespace espalier::cells {

/// The most inputs and parameters together: masks of inputs have 64 bits, and the last stands for what forward saves.
inline constexpr std::size_t kMostInputs = 63;

enum class Place : std::int32_t {
  kInput,   // a stacked input of the cell
  kResult,  // a result of the cell
  kTemp,    // needed between instructions
};

struct Base {
  Place place = Place::kTemp;
  std::int32_t number = 0;  // of the input or result
  std::int64_t width = 0;
  // Of a temp, in floats; -1 where it is not kept there.
  std::int64_t saved = -1;         // within a row that forward leaves for backward
  std::int64_t deferred = -1;      // within a row that backward leaves for the gradients of weights: its gradient
  bool gradient_in_saved = false;  // its gradient takes the place of what forward left of it
  bool in_tile = false;            // used by one group of instructions alone: it lives as long as a tile
  bool gradient_in_tile = false;
  std::int64_t scratch = 0;           // floats a row before it, in its piece's or tile's memory
  std::int64_t gradient_scratch = 0;  // likewise
};

struct Value {
  std::int32_t base = -1;    // -1: a shared input
  std::int32_t shared = -1;  // which
  std::int64_t offset = 0;
  std::int64_t width = 0;
  Shape shape;
};

/// How the gradient of an operand is written.
enum class Write : std::int32_t {
  kNone,   // it has none
  kStore,  // nothing is there yet
  kAdd,
  kInput,  // of a whole input: as the step says
};

struct Columns {
  std::int32_t base = 0;
  std::int64_t offset = 0;
  std::int64_t width = 0;
};

struct alignas(64) Instruction {
  // What every use reads is one line of the cache: where weights are large, it is no longer there when its turn comes.
  const OpInfo* info = nullptr;
  std::int64_t random = -1;          // of a random op: where its fields begin among those of the node
  std::int64_t saved = -1;           // where in a row what it leaves for its own backward begins
  std::int64_t saved_floats = 0;     // how much that is
  std::int32_t operands_before = 0;  // operands and results of the instructions before this one
  std::int32_t operands = 0;         // as many as `in` has
  std::int32_t parts = 0;            // of a product, how many parts x has; else 0
  std::int32_t out = -1;
  bool accumulates = false;    // a product that is added to another
  bool in_place = false;       // it leaves the rest in the place of what it opened
  bool any_shared = false;     // among its operands
  bool defers_result = false;  // the gradient of its result is the step's, and copied for the gradients of weights
  bool then_relu = false;      // a product that does at once what a relu, the only one to read it, would do
  bool is_done = false;        // that relu: only backward runs it
  // The rest.
  std::vector<std::uint32_t> attrs;
  std::vector<std::byte> fields;  // the same for all rows
  std::vector<Shape> shapes;      // beside `in`
  /// Of backward: columns of gradients that are read here and that nobody wrote.
  std::vector<Columns> zeros;
  /// Of a product: the parts of x, which lie one after the other, then W and, if there is one, the bias. Of any other
  /// op: its inputs.
  std::vector<std::int32_t> in;
  std::vector<Write> writes;  // beside `in`, of backward

  bool is_product() const { return parts > 0; }
  std::size_t number_of(std::size_t operand) const { return static_cast<std::size_t>(operands_before) + operand; }
  /// Where forward writes, and whose gradient backward reads: the same, but for a product with a relu.
  std::size_t number_of_result() const { return number_of(static_cast<std::size_t>(operands)); }
  std::size_t number_of_made() const { return number_of_result() + 1; }
};

/// Where an operand or the result of an instruction is, in few bytes: it is asked for at every use.
struct OperandPlace {
  std::int32_t base = -1;  // -1: a shared input
  std::int32_t input = 0;  // the number of the base, or which shared input
  std::int64_t offset = 0;
  std::int64_t width = 0;
  Write write = Write::kNone;
};

/// Instructions first to last - 1: one product, or ops that run tile by tile.
struct Group {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t tile_rows = 1;
};

class Program {
 public:
  /// What `results` are computed from, in a graph that recorded a function once: `inputs`, each with its name, and
  /// parameters. Null where that cannot be compiled: values that are computed from parameters alone, too many inputs;
  /// `why_not` says which.
  static std::shared_ptr<Program> compile(const std::string& name, const Graph& trace, std::span<const NodeId> inputs,
                                          std::span<const std::string> names, std::span<const NodeId> results,
                                          std::string& why_not);

  /// The op that a use of the cell is recorded as.
  const OpInfo& info() const { return infos_[0]; }
  /// That of result k.
  const OpInfo& info(std::size_t k) const { return infos_[k]; }
  std::size_t results() const { return infos_.size(); }
  /// Which come behind the inputs.
  std::span<const Parameter* const> parameters() const { return parameters_; }
  std::span<const RandomPart> random_ops() const { return random_; }

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() = default;

  // --- for running it ------------------------------------------------------------------------------------------------

  std::span<const Base> bases() const { return bases_; }
  const Value& value(std::int32_t id) const { return values_[static_cast<std::size_t>(id)]; }
  std::span<const Instruction> instructions() const { return instructions_; }
  std::span<const Group> groups() const { return groups_; }
  /// Operands and results of all instructions, by their numbers.
  const OperandPlace& place(std::size_t number) const { return places_[number]; }
  /// Floats a row: of memory for pieces and for tiles, of values and of gradients.
  struct Scratch {
    std::int64_t piece = 0;
    std::int64_t tile = 0;
    std::int64_t piece_gradients = 0;
    std::int64_t tile_gradients = 0;
  };
  const Scratch& scratch() const { return scratch_; }
  std::int64_t saved() const { return saved_; }
  std::int64_t deferred() const { return deferred_; }
  std::int64_t tile_rows() const { return tile_rows_; }
  /// Multiply-adds and elements of a row: how long it takes, roughly.
  std::int64_t work() const { return work_; }
  /// Inputs of which several parts get a gradient, or none: where the step wants them stored, they are zeroed first.
  std::span<const std::int32_t> zeroed_inputs() const { return zeroed_inputs_; }
  /// Whether its first instruction is the product of its first input, which nobody else reads, with weights, and what
  /// it gives is kept, added to, and its gradient kept likewise. Then that product can run for many steps together,
  /// before them (multiply_hoisted) and, backward, behind them.
  bool hoists() const { return hoisted_base_ >= 0; }
  /// What that product gives, and in which columns of a row that forward leaves for backward it lies.
  std::int32_t hoisted_base() const { return hoisted_base_; }
  std::int64_t hoisted_width() const { return bases_[static_cast<std::size_t>(hoisted_base_)].width; }
  std::int64_t hoisted_column() const { return bases_[static_cast<std::size_t>(hoisted_base_)].saved; }
  const Shape& result_shape(std::size_t k) const { return result_shapes_[k]; }

 private:
  friend class Compiler;
  friend class Layout;
  friend class ProgramInfos;
  Program() = default;

  std::string name_;
  std::vector<std::string> input_names_;
  std::vector<std::string> result_names_;
  std::vector<Input> inputs_;
  std::vector<Input> result_inputs_;
  std::vector<OpInfo> infos_;
  std::vector<const Parameter*> parameters_;
  std::vector<RandomPart> random_;
  std::vector<Base> bases_;
  std::vector<Value> values_;
  std::vector<Instruction> instructions_;
  std::vector<OperandPlace> places_;
  std::vector<Group> groups_;
  std::vector<std::int32_t> zeroed_inputs_;
  std::vector<Shape> result_shapes_;
  Scratch scratch_;
  std::int64_t saved_ = 0;
  std::int64_t deferred_ = 0;
  std::int64_t tile_rows_ = 1;
  std::int64_t work_ = 0;
  std::int32_t hoisted_base_ = -1;
};

// Attributes of a cell's node are the address of its program; those of a further result also its number, behind it.
constexpr std::size_t kAddressBytes = sizeof(std::uintptr_t);

inline const Program& program_of(const void* attrs) {
  const Program* program = nullptr;
  std::memcpy(&program, attrs, kAddressBytes);
  return *program;
}

/// The number of a further result, behind that address.
inline std::uint32_t result_number(const void* attrs) {
  std::uint32_t number = 0;
  std::memcpy(&number, static_cast<const std::byte*>(attrs) + kAddressBytes, sizeof(number));
  return number;
}

/// An id for an op that is made at run time; those of the registry are far below.
OpId next_op_id();

// The functions of a program's op (cells/program_run.cc).
void run_forward(const void* attrs, const StepIn& in, const StepOut& out);
void run_backward(const void* attrs, const Saved& saved, Grads& grads);
void run_weight_gradients(const void* attrs, const Saved& saved, Grads& grads);
bool moves_shared_inputs(const void* attrs, const StepIn& in);
/// The first product of a program that hoists (cells/hoisted.cc), of the first of `in` to `y`, and from its gradient dy
/// to that of x.
void multiply_hoisted(const Program& program, const StepIn& in, const Rows& y);
void multiply_hoisted_backward(const Program& program, const StepIn& in, const ConstRows& dy, const GradRows& dx);

}  // namespace espalier::cells
