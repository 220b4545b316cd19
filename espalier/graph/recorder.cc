#include "espalier/graph/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "espalier/base/error.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/repeat_shared.h"
#include "espalier/graph/shared_names.h"

namespace espalier {
namespace {

/// Whether the first field is one of those that need no check.
bool is_choice(const Signature& signature, const void* fields) {
  if (signature.choices == 0) return false;
  std::int32_t first = 0;
  std::memcpy(&first, fields, sizeof(first));
  return first >= 0 && first < signature.choices;
}

/// The same of each of `given` rows, or of one.
bool are_choices(const Signature& signature, const void* fields, std::int32_t given) {
  const auto* field = static_cast<const std::byte*>(fields);
  for (std::int32_t r = 0; r < std::max(given, 1); ++r, field += signature.info->field_bytes)
    if (!is_choice(signature, field)) return false;
  return true;
}

}  // namespace

std::vector<Shape> Recorder::shapes_of(const OpInfo& info, std::span<const NodeId> operands) const {
  std::vector<Shape> shapes;
  for (NodeId node : info.is_ragged() ? operands.first(1) : operands) shapes.push_back(type(node).shape);
  return shapes;
}

void Recorder::require_one_type(const OpInfo& info, std::span<const NodeId> operands) const {
  for (std::size_t i = 1; i < operands.size(); ++i)
    if (head_[at(operands[i])].type != head_[at(operands[0])].type)
      throw Refusal{fmt::format("{0}: {1}[0] is {2} and {1}[{3}] is {4}; all must be equal", info.name,
                                info.inputs[0].name, type(operands[0]).to_string(), i, type(operands[i]).to_string())};
}

SignatureId Recorder::new_signature(const OpInfo& info, const void* attrs, std::span<const NodeId> operands,
                                    std::span<const std::uint32_t> key, std::uint64_t hash) {
  const std::vector<Shape> shapes = shapes_of(info, operands);
  const InputShapes in(info.name, info.inputs, shapes);
  for (std::size_t i = 0; i < info.inputs.size(); ++i)
    if (info.inputs[i].role == Role::kShared && !shared(operands[i]))
      in.refuse(fmt::format("{} must be a parameter or computed from parameters only", info.inputs[i].name));
  DType dtype = DType::kFloat32;
  if (info.leaf_dtype != nullptr) {
    dtype = info.leaf_dtype(attrs);
  } else {
    dtype = type(operands[0]).dtype;
    for (std::size_t i = 1; i < operands.size(); ++i)
      if (type(operands[i]).dtype != dtype)
        in.refuse(fmt::format("{} is {} and {} is {}", info.operand_name(0), name_of(dtype), info.operand_name(i),
                              name_of(type(operands[i]).dtype)));
  }
  Signature signature;
  signature.info = &info;
  signature.type = types_.intern(dtype, info.infer(attrs, in));
  signature.saved = info.saved != nullptr ? info.saved(attrs, in) : 0;
  signature.choices = info.choices != nullptr ? info.choices(attrs, in) : 0;
  signature.view = info.view != nullptr ? info.view(attrs, in) : -1;
  signature.side_by_side = info.side_by_side != nullptr && info.side_by_side(attrs, in);
  return signatures_.add(key, hash, signature);
}

[[gnu::noinline]] void Recorder::check_fields(const OpInfo& info, const void* attrs, const void* fields,
                                              std::span<const NodeId> operands) const {
  const std::vector<Shape> shapes = shapes_of(info, operands);
  info.check(attrs, fields, InputShapes(info.name, info.inputs, shapes));
}

/// Inlined, and one loop over the operands for all that is derived from them: this runs with every node recorded.
[[gnu::always_inline]] inline Expr Recorder::append(const OpInfo& info, const void* attrs, const void* fields,
                                                    std::span<const NodeId> operands, SourceLine where,
                                                    std::int32_t given) {
  if (info.is_ragged()) require_one_type(info, operands);
  const auto words = static_cast<std::size_t>(info.attr_words);
  const std::size_t in_key = info.is_ragged() ? 1 : operands.size();
  if (1 + words + in_key > key_capacity_) [[unlikely]] {
    key_.reserve(2 * (1 + words + in_key));
    key_capacity_ = 2 * (1 + words + in_key);
  }
  std::uint32_t* end = key_.data();
  SignatureTable::Hash hash;
  const auto push = [&](std::uint32_t word) {
    hash.add(word);
    *end++ = word;
  };
  push(static_cast<std::uint32_t>(index_of(info.id)));
  for (std::size_t i = 0; i < words; ++i) push(static_cast<const std::uint32_t*>(attrs)[i]);

  // An operation belongs to the instance of its operands; a leaf to the current one.
  InstanceId instance = kNoInstance;
  bool all_shared = !info.never_shared();
  std::int32_t any_rows = given;
  const auto look_at = [&](NodeId node) {
    any_rows |= head_[at(node)].rows;
    join(instance, head_[at(node)].instance);
    all_shared = all_shared && shared(node);
  };
  for (std::size_t i = 0; i < in_key && i < operands.size(); ++i) {
    const NodeId node = operands[i];
    look_at(node);
    if (shared(node) && info.by_identity(i)) {
      push(kSharedInput | head_[at(node)].shared);
      names_nodes_ |= head_[at(node)].shared == name_of_node(at(node));
    } else {
      push(static_cast<std::uint32_t>(index_of(head_[at(node)].type)));
    }
  }
  for (std::size_t i = in_key; i < operands.size(); ++i) look_at(operands[i]);  // of a sum over many, and the like
  if (instance == kNoInstance && !all_shared) instance = current_instance_;

  const std::span<const std::uint32_t> key(key_.data(), end);
  const std::int32_t known = signatures_.find(key, hash.value());
  const SignatureId signature =
      known >= 0 ? SignatureId{known} : new_signature(info, attrs, operands, key, hash.value());
  // A ragged op is of one row of its own, but for the one that brings single rows together.
  std::int32_t rows = kSingle;
  if (any_rows != kSingle || info.row_an_operand) [[unlikely]]
    rows = rows_of_result(info, operands, given);
  if (info.check != nullptr)
    for (std::int32_t r = 0; r < std::max(given, 1); ++r) {
      const void* const field = static_cast<const std::byte*>(fields) + std::ptrdiff_t{r} * info.field_bytes;
      if (!is_choice(signatures_[signature], field)) check_fields(info, attrs, field, operands);
    }
  if (size_ == room_) [[unlikely]]
    make_room();

  const std::uint32_t fields_at =
      info.field_bytes > 0 ? add_fields(fields, static_cast<std::size_t>(info.field_bytes), rows, given) : 0;
  any_many_ |= rows != kSingle;
  any_derived_ |= all_shared && !operands.empty();
  const std::uint32_t name = all_shared ? name_of_node(static_cast<std::size_t>(size_)) : 0;
  return expr(
      write_node(signature, {signatures_[signature].type, instance, rows, name}, fields_at, operands.size(), where));
}

[[gnu::always_inline]] inline NodeId Recorder::append_known_inline(SignatureId signature, std::size_t operands,
                                                                   const void* fields, InstanceId instance,
                                                                   SourceLine where, std::int32_t rows,
                                                                   std::int32_t given) {
  if (size_ == room_) [[unlikely]]
    make_room();
  const Signature& known = signatures_[signature];
  const auto field_bytes = static_cast<std::size_t>(known.info->field_bytes);
  const std::uint32_t fields_at = field_bytes > 0 ? add_fields(fields, field_bytes, rows, given) : 0;
  return write_node(signature, {known.type, instance == kNoInstance ? current_instance_ : instance, rows, 0}, fields_at,
                    operands, where);
}

NodeId Recorder::append_known(SignatureId signature, std::size_t operands, const void* fields, InstanceId instance,
                              SourceLine where, std::int32_t rows, std::int32_t given) {
  return append_known_inline(signature, operands, fields, instance, where, rows, given);
}

/// An operand as it is given to ops with named inputs, and to ops that take any number.
const Expr& expr_of(const Operand& operand) { return operand.expr(); }
const Expr& expr_of(const Expr& expr) { return expr; }
const Parameter* parameter_in(const Operand& operand) { return operand.parameter(); }
const Parameter* parameter_in(const Expr&) { return nullptr; }

/// Records a node like the newest of its op, if it has the same attributes and parameters, and operands of the same
/// types before those; else gives -1.
template <class Given>
[[gnu::always_inline]] inline std::int32_t Recorder::record_like_newest(const NewestOp& newest, const OpInfo& info,
                                                                        const void* attrs, const void* fields,
                                                                        std::span<const Given> operands,
                                                                        SourceLine where, std::int32_t given) {
  if (newest.info != &info || newest.epoch != epoch_ || newest.operands != operands.size()) return -1;
  const std::size_t sample = at(newest.node);
  const std::size_t count = operands.size();
  NodeId* const nodes = room_for_inputs(count);  // before the look at those of the sample, which may move
  const NodeId* const of_sample = inputs_.data() + begin_[sample].inputs;
  InstanceId instance = kNoInstance;
  std::int32_t rows = given;
  std::size_t i = 0;
  for (; i < newest.stacked; ++i) {
    const Expr& expr = expr_of(operands[i]);
    if (!owns(expr)) return -1;
    const Head head = head_[at(expr.node())];
    if (head.shared != 0 || head.type != head_[at(of_sample[i])].type) return -1;
    if (i == 0 && given == kSingle) rows = head.rows;
    if (head.rows != rows) return -1;
    join(instance, head.instance);
    nodes[i] = expr.node();
  }
  for (; i < count; ++i) {
    const Parameter* const parameter = parameter_in(operands[i]);
    if (parameter == nullptr || parameter->uid() != newest.parameters[i]) return -1;
    nodes[i] = of_sample[i];
  }
  if (info.attr_words > 0) {
    const auto* words = static_cast<const std::uint32_t*>(attrs);
    const auto* known = static_cast<const std::uint32_t*>(signatures_.attrs(signature_[sample]));
    if (!std::equal(words, words + info.attr_words, known)) return -1;
  }
  if (info.check != nullptr && !are_choices(signatures_[signature_[sample]], fields, given)) return -1;
  any_many_ |= given != kSingle;
  return index_of(append_known_inline(signature_[sample], count, fields, instance, where, rows, given));
}

/// Remembers a node, where others may be recorded like it.
template <class Given>
void Recorder::remember(NewestOp& newest, const OpInfo& info, NodeId node, std::span<const Given> operands) const {
  if (operands.size() > NewestOp::kMost || info.is_ragged() || info.takes_whole) return;
  std::size_t stacked = 0;
  while (stacked < operands.size() && parameter_in(operands[stacked]) == nullptr) ++stacked;
  for (std::size_t i = 0; i < stacked; ++i)
    if (shared(inputs(node)[i])) return;
  if (stacked == 0 && !info.never_shared()) return;
  // Of many rows, an operand that is read row by row is repeated: another node for another number of rows.
  for (std::size_t i = stacked; i < operands.size(); ++i)
    if (!info.by_identity(i)) return;
  const std::span<const Given> behind = operands.subspan(stacked);
  if (!std::all_of(behind.begin(), behind.end(), [](const Given& each) { return parameter_in(each) != nullptr; }))
    return;
  newest = {.info = &info, .node = node, .epoch = epoch_, .operands = operands.size(), .stacked = stacked};
  for (std::size_t i = stacked; i < operands.size(); ++i) newest.parameters[i] = parameter_in(operands[i])->uid();
}

/// Where the newest node of an op is kept: ops with several weights have several. Two that meet live side by side.
[[gnu::always_inline]] inline Recorder::NewestOp& Recorder::newest_op(const OpInfo& info, const Parameter* last) {
  const std::uint64_t uid = last != nullptr ? last->uid() : 0;
  const std::uint64_t mixed = (static_cast<std::uint64_t>(index_of(info.id)) + 97 * uid) * 0x9E3779B97F4A7C15;
  const std::size_t place = mixed >> 58;
  static_assert(std::tuple_size_v<decltype(newest_ops_)> == 1 << 6);
  const NewestOp& first = newest_ops_[place];
  const bool is_taken = first.epoch == epoch_ && first.info != &info;
  return newest_ops_[is_taken ? place ^ 1U : place];
}

Expr Recorder::record(const OpInfo& info, const void* attrs, const void* fields, std::span<const Operand> operands) {
  NewestOp& newest = newest_op(info, operands.back().parameter());
  if (const std::int32_t like =
          record_like_newest(newest, info, attrs, fields, operands, operands.front().where(), kSingle);
      like >= 0)
    return expr(NodeId{like});
  const Expr result = record_operands(info, attrs, fields, operands, kSingle);
  remember(newest, info, result.node(), operands);
  return result;
}

Expr Recorder::record_rows(const OpInfo& info, const void* attrs, const void* fields, std::int32_t rows,
                           std::span<const Operand> operands) {
  const SourceLine where = operands.front().where();
  if (rows < 1)
    throw UsageError(
        fmt::format("{}: needs at least one row, and {} are given\n  at {}", info.name, rows, where.to_string()));
  NewestOp& newest = newest_op(info, operands.back().parameter());
  if (const std::int32_t like = record_like_newest(newest, info, attrs, fields, operands, where, rows); like >= 0)
    return expr(NodeId{like});
  const Expr result = record_operands(info, attrs, fields, operands, rows);
  remember(newest, info, result.node(), operands);
  return result;
}

Expr Recorder::record_operands(const OpInfo& info, const void* attrs, const void* fields,
                               std::span<const Operand> operands, std::int32_t given) {
  const SourceLine where = operands.front().where();
  const Mark before = mark();
  OperandList with_rows;
  if (repeat_shared(*this, info, given, operands, with_rows)) operands = with_rows;
  NodeId* nodes = room_for_inputs(operands.size());
  try {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Operand& operand = operands[i];
      nodes[i] = owns(operand.expr()) ? operand.expr().node() : node_of(info, i, operand);
    }
    return append(info, attrs, fields, {nodes, operands.size()}, where, given);
  } catch (const Refusal& refusal) {
    refuse(info, refusal, {nodes, operands.size()}, where, before);
  } catch (...) {
    roll_back(before);  // parameters that were recorded for this node alone
    throw;
  }
}

Expr Recorder::record(const OpInfo& info, const void* attrs, const void* fields, const Operands& operands) {
  std::span<const Expr> list = operands.list();
  NewestOp& newest = newest_op(info, nullptr);
  if (const std::int32_t like = record_like_newest(newest, info, attrs, fields, list, operands.where(), kSingle);
      like >= 0)
    return expr(NodeId{like});
  const Mark before = mark();
  if (list.empty())
    refuse(info, {fmt::format("{}: needs at least one operand", info.name)}, {}, operands.where(), before);
  std::vector<Expr> with_rows;
  if (any_many_ && repeat_shared(*this, info, list, operands.where(), with_rows)) list = with_rows;
  NodeId* nodes = room_for_inputs(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!owns(list[i])) refuse_operand(info, i, list[i], operands.where());
    nodes[i] = list[i].node();
  }
  try {
    const Expr result = append(info, attrs, fields, {nodes, list.size()}, operands.where());
    remember(newest, info, result.node(), list);
    return result;
  } catch (const Refusal& refusal) {
    refuse(info, refusal, {nodes, list.size()}, operands.where(), before);
  } catch (...) {
    roll_back(before);
    throw;
  }
}

Expr Recorder::record_leaf(const OpInfo& info, const void* attrs, const void* fields, SourceLine where) {
  const Mark before = mark();
  try {
    return append(info, attrs, fields, {}, where);
  } catch (const Refusal& refusal) {
    refuse(info, refusal, {}, where, before);
  } catch (...) {
    roll_back(before);
    throw;
  }
}

void Recorder::refuse(const OpInfo& info, const Refusal& refusal, std::span<const NodeId> operands, SourceLine where,
                      const Mark& before) {
  const std::string text = located(info, refusal.sentence, operands, where);
  roll_back(before);
  throw UsageError(text);
}

void Recorder::roll_back(const Mark& to) {
  if (size_ > to.size) ++epoch_;
  if (signatures_.size() > to.signatures) ++signature_epoch_;
  parameters_.truncate(to.size);
  signatures_.truncate(to.signatures);
  size_ = to.size;  // the fields of what is rolled back stay as unused bytes
}

void Recorder::rehearse(const std::function<void()>& f) {
  const Mark before = mark();
  const std::uint32_t random_ops = random_ops_;
  const auto take_back = [&] {
    roll_back(before);
    random_ops_ = random_ops;
  };
  try {
    f();
  } catch (...) {
    take_back();
    throw;
  }
  take_back();
}

}  // namespace espalier
