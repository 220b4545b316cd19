/// Recorder: the records of a graph, and how ops, cells and executors write and read them. Users call Graph.
///
/// Invariants:
///  1. An input of a node has a smaller id: ids are a topological order.
///  2. A node never changes once recorded; a refused operation leaves the graph as it was.
///  3. Two nodes have the same signature id exactly when their keys are equal word by word.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/base/column.h"
#include "espalier/base/export.h"
#include "espalier/base/ids.h"
#include "espalier/base/source_line.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph_options.h"
#include "espalier/graph/graph_slot.h"
#include "espalier/graph/known_cells.h"
#include "espalier/graph/leaf.h"
#include "espalier/graph/op_info.h"
#include "espalier/graph/parameter.h"
#include "espalier/graph/parameter_nodes.h"
#include "espalier/graph/recording_clock.h"
#include "espalier/graph/replayed_kinds.h"
#include "espalier/graph/shared_names.h"
#include "espalier/graph/signatures.h"

namespace espalier {

/// What an executor keeps with a graph.
struct GraphRuntime {
  virtual ~GraphRuntime() = default;
  /// The graph's records are gone: forget all that belongs to them, and keep the memory for what comes next.
  virtual void clear() = 0;
};

class ESPALIER_EXPORT Recorder {
 public:
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // --- for ops -------------------------------------------------------------------------------------------------------

  /// Appends a node. `attrs` are info.attr_words words, `fields` info.field_bytes bytes. Refuses, as a UsageError with
  /// the operands and the source line, what info's shape rule refuses.
  Expr record(const OpInfo& info, const void* attrs, const void* fields, std::span<const Operand> operands);
  /// The same for an op that takes any number of inputs.
  Expr record(const OpInfo& info, const void* attrs, const void* fields, const Operands& operands);
  /// The same with as many fields as the node is to have rows, one behind the other. Its stacked operands, if it has
  /// any, must have as many rows, unless the op takes them whole.
  Expr record_rows(const OpInfo& info, const void* attrs, const void* fields, std::int32_t rows,
                   std::span<const Operand> operands);
  /// The node of a parameter: one a graph, whoever asks.
  Expr record_parameter(const Parameter& parameter);
  /// The same as record() for a leaf.
  Expr record_leaf(const OpInfo& info, const void* attrs, const void* fields, SourceLine where);

  /// Whether an Expr is one of this graph and not stale.
  bool owns(const Expr& expr) const { return expr.slot() == slot_ && expr.generation() == generation_; }
  /// Whether an operand can be used here: such an Expr, or a parameter.
  bool holds(const Operand& operand) const { return operand.parameter() != nullptr || owns(operand.expr()); }

  // --- for cells -----------------------------------------------------------------------------------------------------

  /// This graph only records what the function of a cell does: it computes nothing.
  void start_trace(const std::string& cell) { trace_ = cell; }
  bool is_trace() const { return !trace_.empty(); }
  const std::string& traced_cell() const { return trace_; }
  /// A leaf without numbers, in place of a cell's input.
  Expr add_trace_input(const Shape& shape, bool shared, SourceLine where);
  /// Refuses (UsageError) an operand that holds() does not hold.
  [[noreturn]] void refuse_input(const OpInfo& info, std::size_t position, const Operand& operand) const {
    refuse_operand(info, position, operand.expr(), operand.where());
  }
  /// Calls f and takes back what it recorded, also where it throws.
  void rehearse(const std::function<void()>& f);
  /// Keeps an object alive as long as the signatures so far.
  void hold(std::shared_ptr<const void> object) { held_.push_back(std::move(object)); }
  /// Appends a node of the signature of `sample`, which has the same shared operands behind its stacked ones. The
  /// stacked ones must be nodes of this graph, of the types that those of the sample have and all of as many rows, with
  /// fields for each: nothing is checked.
  NodeId record_like(NodeId sample, const void* fields, std::span<const NodeId> stacked, SourceLine where);
  /// The same for an op that takes its only stacked operand whole, with fields for `rows` rows, and for the further
  /// ones of its `results`, which follow it.
  NodeId record_rows_like(NodeId sample, const void* fields, std::int32_t rows, std::int32_t results, NodeId stacked,
                          SourceLine where);
  /// The same where the sample was recorded before clear(): its signature, and those of its further results, are known,
  /// and the parameters behind the stacked operand. Gives -1 where a parameter is of another type by now.
  std::int32_t record_rows_again(std::span<const SignatureId> results, std::span<const Parameter* const> parameters,
                                 const void* fields, std::int32_t rows, NodeId stacked, SourceLine where);
  /// The same for a cell without fields and the further ones of its results, which follow it.
  NodeId record_like(NodeId sample, std::int32_t results, std::span<const NodeId> stacked, SourceLine where);
  /// Sentences for explain() on what is recorded op by op although it could be one node: one for each uid.
  bool has_note(std::uint64_t uid) const {
    for (const auto& note : notes_)
      if (note.first == uid) return true;
    return false;
  }
  void add_note(std::uint64_t uid, std::string sentence) { notes_.emplace_back(uid, std::move(sentence)); }
  /// The cells that were used here, to find a sample by.
  KnownCells& known_cells() { return known_cells_; }
  /// The known use of a cell with inputs like these, all stacked and of as many rows, whose nodes are written to
  /// `nodes` then; null where there is none.
  const KnownCell* known_use(std::uint64_t cell, std::span<const Expr> inputs,
                             std::span<NodeId, KnownCell::kMostInputs> nodes);
  /// Another number whenever recorded nodes are taken back or cleared: samples of before are none any more.
  std::uint32_t epoch() const { return epoch_; }
  /// Another number whenever signatures that nodes had are forgotten: their ids mean others from then on. Clearing a
  /// graph need not do so.
  std::uint32_t signature_epoch() const { return signature_epoch_; }

  /// Identifies one random op: its instance and its number there.
  struct RandomPlace {
    std::uint64_t instance_key = 0;
    std::uint32_t number = 0;
  };
  RandomPlace next_random_place() { return next_random_places(1); }
  /// The first of several that follow each other.
  RandomPlace next_random_places(std::uint32_t count) {
    any_random_ = true;
    return {instance_key_, std::exchange(random_ops_, random_ops_ + count)};
  }

  // --- for tasks, whose instances take turns -------------------------------------------------------------------------

  /// Where recording stands in an instance.
  struct InstancePlace {
    InstanceId instance = kNoInstance;
    std::uint64_t key = 0;
    std::uint32_t random_ops = 0;
  };
  InstancePlace instance_place() const { return {current_instance_, instance_key_, random_ops_}; }
  /// Recording goes on there.
  void go_on_at(const InstancePlace& place) {
    current_instance_ = place.instance;
    instance_key_ = place.key;
    random_ops_ = place.random_ops;
  }

  // --- for executors: the records, one entry a node ------------------------------------------------------------------

  const GraphOptions& options() const { return options_; }
  std::int32_t instances() const { return instances_; }
  std::int32_t size() const { return size_; }
  const Signature& signature(NodeId node) const { return signatures_[signature_id(node)]; }
  SignatureId signature_id(NodeId node) const { return signature_[at(node)]; }
  const SignatureTable& signatures() const { return signatures_; }
  const Type& type(TypeId id) const { return types_[id]; }
  const Type& type(NodeId node) const { return types_[type_id(node)]; }
  TypeId type_id(NodeId node) const { return head_[at(node)].type; }
  std::span<const NodeId> inputs(NodeId node) const {
    return {inputs_.data() + begin_[at(node)].inputs, inputs_.data() + begin_[at(node) + 1].inputs};
  }
  const void* attrs(NodeId node) const { return signatures_.attrs(signature_id(node)); }
  const void* fields(NodeId node) const { return fields_.data() + begin_[at(node)].fields; }
  /// Those of one of its rows.
  const void* fields(NodeId node, std::int64_t row) const {
    return fields_.data() + begin_[at(node)].fields + row * signature(node).info->field_bytes;
  }
  InstanceId instance(NodeId node) const { return head_[at(node)].instance; }
  /// Whether a node has many rows, be it one: each is of the node's type, and has fields of its own.
  bool is_many(NodeId node) const { return head_[at(node)].rows != kSingle; }
  /// Whether any node has.
  bool any_many() const { return any_many_; }
  bool has_rows_like(NodeId node, NodeId other) const { return head_[at(node)].rows == head_[at(other)].rows; }
  /// How many: 1 for all other nodes.
  std::int32_t rows(NodeId node) const { return is_many(node) ? head_[at(node)].rows : 1; }
  /// Of all rows together.
  std::int64_t elements(NodeId node) const { return type(node).elements * rows(node); }
  std::int64_t bytes(NodeId node) const {
    return elements(node) * static_cast<std::int64_t>(size_of(type(node).dtype));
  }
  /// The shape of the value: that of a row, with another axis before it where there are many.
  Shape value_shape(NodeId node) const {
    return is_many(node) ? type(node).shape.inserted(0, rows(node)) : type(node).shape;
  }
  SourceLine source(NodeId node) const { return source_[at(node)]; }
  /// Made from parameters only: one tensor for a whole step.
  bool shared(NodeId node) const { return head_[at(node)].shared != 0; }
  /// Whether any node is that is no parameter, but made from some. May say so of one that was taken back.
  bool any_derived() const { return any_derived_; }
  /// The parameter of a parameter's node, else null: a leaf that has a name which stays.
  const Parameter* parameter_of(NodeId node) const {
    if (!is_name_of_number(head_[at(node)].shared) || !inputs(node).empty()) return nullptr;
    ParameterFields parameter;
    std::memcpy(&parameter, fields(node), sizeof(parameter));
    return parameter.parameter;
  }
  /// "node 412 = concat(node 398, node 411)", or `parameter "cell.W"`.
  std::string describe(NodeId node) const;
  /// "float32[64]", and of seven such rows "float32[64] x 7".
  std::string type_text(NodeId node) const;

  /// The recording clock stands still until the next node is recorded. Every run does this first.
  void stop_recording() {
    recording_.stop();
    room_ = size_;
  }
  /// Memory in use for the records and for data of leaves.
  std::int64_t record_bytes() const;

  Expr expr(NodeId node) const { return {slot_, generation_, node}; }
  std::unique_ptr<GraphRuntime>& runtime() { return runtime_; }
  const GraphRuntime* runtime() const { return runtime_.get(); }

 protected:
  Recorder(const GraphOptions& options, Graph& graph);
  ~Recorder();

 private:
  friend class Graph;
  friend class InstanceReader;  // of Recordings
  friend class InstanceWriter;

  static std::size_t at(NodeId node) { return static_cast<std::size_t>(index_of(node)); }
  static constexpr std::int32_t kSingle = 0;
  /// Whether signatures outlive clear(): they must not name nodes, and must not be too many.
  bool keeps_signatures() const;
  void forget_signatures();
  /// Makes a node shared, under a name that outlives clear().
  void name_shared(NodeId node, std::uint64_t uid, SignatureId signature = ParameterNodes::kNoSignature);
  Expr record_parameter_again(const Parameter& parameter, ParameterNodes::Known& known);
  /// The node of an operand that is no Expr of this graph: a parameter's.
  NodeId node_of(const OpInfo& info, std::size_t position, const Operand& operand);
  [[noreturn]] static void refuse_destroyed(std::string_view what, const Parameter& parameter, SourceLine where);
  [[noreturn]] void refuse_operand(const OpInfo& info, std::size_t position, const Expr& expr, SourceLine where) const;
  NodeId* room_for_inputs(std::size_t count) {
    const std::size_t begin = begin_[static_cast<std::size_t>(size_)].inputs;
    if (begin + count > input_capacity_) [[unlikely]]
      grow_inputs(begin + count);
    return inputs_.data() + begin;
  }
  void grow_inputs(std::size_t at_least);
  void grow_fields(std::size_t at_least);
  /// `given` is how many rows there are fields for, or kSingle.
  Expr append(const OpInfo& info, const void* attrs, const void* fields, std::span<const NodeId> operands,
              SourceLine where, std::int32_t given = kSingle);
  /// Appends a node of a known signature, whose inputs are in place.
  NodeId append_known(SignatureId signature, std::size_t operands, const void* fields, InstanceId instance,
                      SourceLine where, std::int32_t rows, std::int32_t given);
  /// What is asked of an operand whenever a node uses it, in one piece.
  struct Head {
    TypeId type;
    InstanceId instance;
    std::int32_t rows;     // kSingle for a node that is one row
    std::uint32_t shared;  // 0: stacked; else what it is called in keys
  };
  /// Writes the next node, for which there must be room; its inputs and fields are in place.
  NodeId write_node(SignatureId signature, const Head& head, std::uint32_t fields, std::size_t operands,
                    SourceLine where) {
    const auto n = static_cast<std::size_t>(size_++);
    signature_[n] = signature;
    head_[n] = head;
    source_[n] = where;
    begin_[n].fields = fields;
    begin_[n + 1].inputs = begin_[n].inputs + static_cast<std::uint32_t>(operands);
    return NodeId{static_cast<std::int32_t>(n)};
  }
  /// The same in the middle of who asks.
  NodeId append_known_inline(SignatureId signature, std::size_t operands, const void* fields, InstanceId instance,
                             SourceLine where, std::int32_t rows, std::int32_t given);
  std::size_t put_operands_like(NodeId sample, std::span<const NodeId> stacked, InstanceId& instance);
  void append_results_like(NodeId sample, NodeId cell, std::int32_t results, SourceLine where);
  /// Joins the instance of a further operand to that of those before.
  static void join(InstanceId& instance, InstanceId of) {
    if (of != instance && of != kNoInstance) instance = instance == kNoInstance ? of : kJoint;
  }
  Expr record_operands(const OpInfo& info, const void* attrs, const void* fields, std::span<const Operand> operands,
                       std::int32_t given);
  /// How many rows the result has, where some operand has many or fields for many are given; refuses unlike ones.
  std::int32_t rows_of_result(const OpInfo& info, std::span<const NodeId> operands, std::int32_t given) const;
  struct NewestOp;
  NewestOp& newest_op(const OpInfo& info, const Parameter* last);
  template <class Given>
  std::int32_t record_like_newest(const NewestOp& newest, const OpInfo& info, const void* attrs, const void* fields,
                                  std::span<const Given> operands, SourceLine where, std::int32_t given);
  template <class Given>
  void remember(NewestOp& newest, const OpInfo& info, NodeId node, std::span<const Given> operands) const;
  SignatureId new_signature(const OpInfo& info, const void* attrs, std::span<const NodeId> operands,
                            std::span<const std::uint32_t> key, std::uint64_t hash);
  std::uint32_t add_fields(const void* fields, std::size_t bytes);
  std::uint32_t add_fields(const void* fields, std::size_t bytes, std::int32_t rows, std::int32_t given);
  void check_fields(const OpInfo& info, const void* attrs, const void* fields, std::span<const NodeId> operands) const;
  void require_one_type(const OpInfo& info, std::span<const NodeId> operands) const;
  std::vector<Shape> shapes_of(const OpInfo& info, std::span<const NodeId> operands) const;
  std::string located(const OpInfo& info, const std::string& sentence, std::span<const NodeId> operands,
                      SourceLine where) const;
  void grow();
  /// For one node at least. Starts the recording clock.
  void make_room();
  /// How much was recorded at some moment, to go back to when an operation is refused.
  struct Mark {
    std::int32_t size;
    std::int32_t signatures;
  };
  Mark mark() const { return {size_, signatures_.size()}; }
  void roll_back(const Mark& to);
  [[noreturn]] void refuse(const OpInfo& info, const Refusal& refusal, std::span<const NodeId> operands,
                           SourceLine where, const Mark& before);
  Expr add_leaf_data(const LeafAttrs& attrs, const void* data, SourceLine where);
  Expr add_leaf_rows(const Shape& row, std::int64_t rows, const std::byte* data, SourceLine where);

  GraphOptions options_;
  GraphSlot* slot_;
  std::uint32_t generation_;

  TypeTable types_;
  SignatureTable signatures_;

  // One entry a node, in columns of one capacity.
  std::int32_t size_ = 0;
  std::int32_t capacity_ = 0;
  /// How many nodes there may be until make_room() is called: the capacity, or fewer if the clock is to start with the
  /// next one.
  std::int32_t room_ = 0;
  RecordingClock recording_;
  Column<SignatureId> signature_;
  Column<Head> head_;
  Column<SourceLine> source_;
  struct Begin {
    std::uint32_t inputs;
    std::uint32_t fields;
  };
  Column<Begin> begin_;  // one more than nodes, of which the inputs say where those of the last end
  // The inputs and fields of all nodes, one after the other.
  Column<NodeId> inputs_;
  std::size_t input_capacity_ = 0;
  Column<std::byte> fields_;
  std::size_t field_size_ = 0;
  std::size_t field_capacity_ = 0;
  Column<std::uint32_t> key_;  // of the node being recorded
  std::size_t key_capacity_ = 0;
  std::uint32_t epoch_ = 1;
  std::uint32_t signature_epoch_ = 1;
  bool names_nodes_ = false;  // some key does
  bool any_many_ = false;
  bool any_derived_ = false;
  KnownCells known_cells_;
  /// The newest leaves by their size: most are like one of them.
  struct NewestLeaf {
    NodeId node{};
    std::uint32_t epoch = 0;
    LeafAttrs attrs;
  };
  std::array<NewestLeaf, 8> newest_leaves_;
  /// The newest nodes of ops: most nodes are like one of them.
  struct NewestOp {
    static constexpr std::size_t kMost = 4;  // operands

    const OpInfo* info = nullptr;
    NodeId node{};
    std::uint32_t epoch = 0;
    std::size_t operands = 0;
    std::size_t stacked = 0;                        // of these before its parameters, made from no parameters alone
    std::array<std::uint64_t, kMost> parameters{};  // the uids of those behind, by operand
  };
  std::array<NewestOp, 64> newest_ops_;

  Arena leaf_data_;
  ParameterNodes parameters_;  // and what was derived from them

  std::int32_t instances_ = 0;
  InstanceId current_instance_ = kNoInstance;
  std::uint64_t first_key_ = 0;
  /// Outside of all instances, a key that no instance has by default.
  static std::uint64_t key_outside(std::uint64_t first_key) { return ~first_key; }
  std::uint64_t instance_key_ = key_outside(0);
  std::uint32_t random_ops_ = 0;  // of the instance
  bool any_random_ = false;       // in the graph
  std::optional<std::uint64_t> step_;

  std::string trace_;  // the cell that is traced here
  std::vector<std::shared_ptr<const void>> held_;
  /// What is known here of instances that Recordings keep.
  std::vector<ReplayedKinds> replayed_;
  std::vector<std::pair<std::uint64_t, std::string>> notes_;
  std::unique_ptr<GraphRuntime> runtime_;
};

}  // namespace espalier
