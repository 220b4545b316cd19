/// What the graph knows about an op: a table of facts and functions, made from the op's struct by ops/op.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "espalier/base/dtype.h"
#include "espalier/base/export.h"
#include "espalier/base/ids.h"
#include "espalier/base/shape.h"
#include "espalier/graph/op_sample.h"

namespace espalier {

enum class Kind : std::int32_t {
  kLeaf,     // a source: data, a parameter
  kMap,      // elementwise
  kProduct,  // a matrix product with weights
  kReduce,   // elements of a row become fewer, or depend on each other
  kMove,     // elements change place
  kCell,     // a function of the user's, compiled: several of the above
  kResult,   // a result of a cell but the first: computed with it
};

enum class Role : std::int32_t {
  kStacked,  // one row a node; its shape is in the signature
  kEither,   // stacked, or one tensor shared by the whole step, which is then in the signature by identity
  kShared,   // a parameter, or computed from parameters only; anything else is refused
  kRagged,   // any number of stacked inputs of one shape; the number is not in the signature
  kMany,     // any number of stacked inputs, each with its shape in the signature
};

/// One declared input. A ragged or many input is the only input of its op.
struct Input {
  std::string_view name;
  Role role = Role::kStacked;
  /// With shared weights, the rows of this input are one matrix: an executor lays them side by side. Inputs of the same
  /// block, in the order of their declaration, make up its rows together. -1: of none.
  std::int32_t block = -1;
};

/// What backward reads, so that everything else may be freed or overwritten after forward.
struct Keep {
  bool inputs = false;  // all inputs; for less, name them:
  std::array<std::string_view, 4> only{};
  bool output = false;
};

/// The shapes an op's `infer` sees, by the name of the input, with the checks that refuse.
/// A refusal throws `Refusal`; the graph adds the operands, their source lines and the instance.
class ESPALIER_EXPORT InputShapes {
 public:
  InputShapes(std::string_view op, std::span<const Input> inputs, std::span<const Shape> shapes)
      : op_(op), inputs_(inputs), shapes_(shapes) {}

  std::size_t size() const { return shapes_.size(); }
  const Shape& operator[](std::size_t i) const { return shapes_[i]; }
  const Shape& operator[](std::string_view name) const;

  void require_rank(std::string_view name, std::int32_t rank) const;
  void require_rank_at_least(std::string_view name, std::int32_t rank) const;
  void require_axis(std::string_view name, std::int32_t axis) const;
  /// "op: <what_a> (a) and <what_b> (b) differ"
  void require_same(std::string_view what_a, std::int64_t a, std::string_view what_b, std::int64_t b) const;
  /// "op: shape of a ([2]) and shape of b ([3]) differ"
  void require_same_shape(std::string_view a, std::string_view b) const;
  /// "op: <sentence>" unless `condition`.
  void require(bool condition, std::string_view sentence) const;
  [[noreturn]] void refuse(std::string_view sentence) const;

 private:
  std::string_view op_;
  std::span<const Input> inputs_;
  std::span<const Shape> shapes_;
};

/// Thrown by InputShapes; never leaves the library: it becomes a located UsageError.
struct Refusal {
  std::string sentence;
};

template <class T>
struct PlainIn;
struct StepIn;
struct StepOut;
struct Saved;
class Grads;

namespace ad {
struct Var;
}

struct OpInfo;

/// A random op within a cell.
struct RandomPart {
  const OpInfo* info = nullptr;
  std::int64_t begin = 0;    // of its fields, in those of a node
  std::uint32_t number = 0;  // among all random ops of the function, in the order in which they were recorded
};

struct OpInfo {
  OpId id{};  // set by the registry
  std::string_view name;
  std::string_view contract;  // one line: what it computes, with the shapes
  Kind kind = Kind::kMap;
  std::span<const Input> inputs;
  Keep keep;
  std::uint64_t keep_mask = 0;   // further inputs that backward reads, a bit each
  std::int32_t attr_words = 0;   // Attrs, as 32-bit words
  std::int32_t field_bytes = 0;  // Fields of a node
  bool per_instance = false;     // belongs to its instance even where all its inputs are shared: a lookup
  bool random = false;           // depends on a counter: never merged with an equal node
  /// Its operands have rows of their own, and not one for each of its result: the kernel sees all rows of each node.
  bool takes_whole = false;
  /// Of a cell: where nobody wrote anything of the gradients of a result, its backward is told so (Saved::unwritten),
  /// instead of getting zeros.
  bool opens_results = false;
  bool row_an_operand = false;  // of a ragged op: the result has a row for each row of an operand
  bool gathers = false;         // its kernels take the rows of blocks from wherever they lie
  bool stores_shared = false;   // backward may be told to store the gradients of shared inputs instead of adding
  std::uint64_t adds_only = 0;  // shared inputs, a bit each, whose gradient does not read their own values
  std::int32_t result = 0;      // of Kind::kResult: which
  std::int32_t results = 1;     // of Kind::kCell: how many
  std::int64_t deferred = 0;    // of Kind::kCell: floats a row that backward leaves for the gradients of weights
  /// Of Kind::kCell: the inputs and the results that weight_gradients reads, a bit each.
  std::uint64_t weights_read_inputs = 0;
  std::uint32_t weights_read_results = 0;
  bool weights_read_dy = false;  // and whether it reads the gradient of the first result
  /// Of Kind::kCell: backward overwrites what forward left for it: it can go through a step once.
  bool overwrites_saved = false;

  /// The element type of a leaf; other ops have that of their inputs.
  DType (*leaf_dtype)(const void* attrs) = nullptr;
  Shape (*infer)(const void* attrs, const InputShapes&) = nullptr;
  /// Refuses fields that do not fit (a row outside its table). May be null.
  void (*check)(const void* attrs, const void* fields, const InputShapes&) = nullptr;
  /// Where check() only wants the first field, an int32, from 0 to below so many: it is not called for those. May be
  /// null.
  std::int32_t (*choices)(const void* attrs, const InputShapes&) = nullptr;
  /// Floats a row that forward leaves for backward.
  std::int64_t (*saved)(const void* attrs, const InputShapes&) = nullptr;
  /// Of an op that takes its only operand whole and reads one of its rows: which. Its kernels see that row alone.
  std::int32_t (*reads_row)(const void* fields) = nullptr;
  /// Of an op whose result lies in its only input as it is: from which element on, or -1 where it does not. Such a node
  /// is not computed.
  std::int64_t (*view)(const void* attrs, const InputShapes&) = nullptr;
  /// Of an op whose result is its inputs one after the other: its inputs may then be written there at once.
  bool (*side_by_side)(const void* attrs, const InputShapes&) = nullptr;
  /// Of a ragged op that is a weighted sum of its operands: the weight of each, given how many there are. Null for all
  /// other ops.
  double (*weight)(std::size_t operands) = nullptr;
  /// Of an op with many inputs, of which backward reads some only: which. May be null.
  bool (*keeps_operand)(std::size_t position) = nullptr;
  /// Of an op that can leave what backward needs in the place of inputs: whether it overwrites this operand, and how
  /// many floats a row it leaves beside. It does without any place for them too, where nobody will differentiate. Null
  /// for all other ops.
  bool (*overwrites)(std::size_t operand) = nullptr;
  std::int64_t (*saved_in_place)(const void* attrs, const InputShapes&) = nullptr;
  /// Of an op that copies a row of its only input, a table: which. An executor then keeps the gradient of a table that
  /// is a parameter as rows, and may read the row where the table is. Null for all other ops.
  std::int32_t (*table_row)(const void* fields) = nullptr;
  void (*plain_float)(const void* attrs, const void* fields, const PlainIn<float>&, std::span<float> y) = nullptr;
  void (*plain_double)(const void* attrs, const void* fields, const PlainIn<double>&, std::span<double> y) = nullptr;
  void (*plain_var)(const void* attrs, const void* fields, const PlainIn<ad::Var>&, std::span<ad::Var> y) = nullptr;
  void (*forward)(const void* attrs, const StepIn&, const StepOut&) = nullptr;
  void (*backward)(const void* attrs, const Saved&, Grads&) = nullptr;
  /// The gradients of shared inputs alone, of rows that backward saw before; null: backward gives these too.
  void (*weight_gradients)(const void* attrs, const Saved&, Grads&) = nullptr;
  /// Of an op whose rows read unlike shared inputs: those that some row of a step reads, a bit each. Null: all of them.
  std::uint64_t (*shared_read)(const void* attrs, const StepIn&) = nullptr;
  /// Whether a step adds anything but zeros to the gradients of shared inputs. Null: it does.
  bool (*moves_shared)(const void* attrs, const StepIn&) = nullptr;
  /// Of a random op: writes the fields of a node that stands at this place in the random numbers.
  void (*place_random)(void* fields, std::uint64_t seed, std::uint64_t step, std::uint64_t instance_key,
                       std::uint32_t number) = nullptr;

  /// Of a cell: the random ops within it.
  std::span<const RandomPart> random_parts;

  Samples (*samples)() = nullptr;
  Refusals (*refusals)() = nullptr;

  bool is_ragged() const { return ragged_; }
  bool takes_any_number() const { return inputs.size() == 1 && inputs[0].role >= Role::kRagged; }
  /// Whether input i, where it is shared, is in the signature as that very node.
  bool by_identity(std::size_t i) const { return (by_identity_ >> i & 1U) != 0; }
  /// Belongs to an instance whatever its inputs: leaves, and what says so.
  bool never_shared() const { return never_shared_; }
  bool keeps_input(std::size_t declared) const;
  /// Whether backward reads an operand, whatever the number of inputs.
  bool keeps(std::size_t position) const {
    if (keeps_operand != nullptr) return keeps_operand(position);
    return keeps_input(takes_any_number() ? 0 : position);
  }
  /// The name of an operand as the op declares it; those of an op with any number of inputs are counted: "x[3]".
  std::string operand_name(std::size_t position) const;

  /// Writes the random places of a node of so many rows into its fields: `first` is the number of the first in its
  /// instance. Those of one op follow each other, as they do where the ops of a cell are recorded by themselves.
  void place_rows(std::byte* fields, std::int32_t rows, std::uint64_t seed, std::uint64_t step,
                  std::uint64_t instance_key, std::uint32_t first) const;

  /// Called by the registry: what recording asks for with every node.
  void prepare();

 private:
  bool ragged_ = false;
  bool never_shared_ = false;
  std::uint64_t by_identity_ = 0;
};

/// All ops known to the process: those of the library's list, then registered ones. Entries never move.
///
/// Thread safety: every function may be called from any thread.
ESPALIER_EXPORT const OpInfo& op_info(OpId op);
ESPALIER_EXPORT std::int32_t op_count();
/// Refuses (UsageError) a name that is not registered.
ESPALIER_EXPORT OpId find_op(std::string_view name);
/// Adds an op. Refuses a name that is taken, unless by this very op.
ESPALIER_EXPORT OpId add_op(const OpInfo& info);

}  // namespace espalier
