#include "espalier/graph/op_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "espalier/base/error.h"
#include "espalier/graph/library_ops.h"

namespace espalier {

const Shape& InputShapes::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].name == name) return shapes_[i];
  throw InternalError(fmt::format("{}: has no input named {}", op_, name));
}

void InputShapes::require_rank(std::string_view name, std::int32_t rank) const {
  const Shape& shape = (*this)[name];
  if (shape.rank() != rank)
    throw Refusal{
        fmt::format("{}: {} must have rank {}, and {} has rank {}", op_, name, rank, shape.to_string(), shape.rank())};
}

void InputShapes::require_rank_at_least(std::string_view name, std::int32_t rank) const {
  const Shape& shape = (*this)[name];
  if (shape.rank() < rank)
    throw Refusal{fmt::format("{}: {} must have rank {} or more, and {} has rank {}", op_, name, rank,
                              shape.to_string(), shape.rank())};
}

void InputShapes::require_axis(std::string_view name, std::int32_t axis) const {
  const Shape& shape = (*this)[name];
  if (axis < 0 || axis >= shape.rank())
    throw Refusal{
        fmt::format("{}: axis {} is outside {} {} (rank {})", op_, axis, name, shape.to_string(), shape.rank())};
}

void InputShapes::require_same(std::string_view what_a, std::int64_t a, std::string_view what_b, std::int64_t b) const {
  if (a != b) throw Refusal{fmt::format("{}: {} ({}) and {} ({}) differ", op_, what_a, a, what_b, b)};
}

void InputShapes::require_same_shape(std::string_view a, std::string_view b) const {
  if ((*this)[a] != (*this)[b])
    throw Refusal{fmt::format("{}: shape of {} ({}) and shape of {} ({}) differ", op_, a, (*this)[a].to_string(), b,
                              (*this)[b].to_string())};
}

void InputShapes::require(bool condition, std::string_view sentence) const {
  if (!condition) refuse(sentence);
}

void InputShapes::refuse(std::string_view sentence) const { throw Refusal{fmt::format("{}: {}", op_, sentence)}; }

bool OpInfo::keeps_input(std::size_t declared) const {
  if (keep.inputs || (keep_mask >> declared & 1U) != 0) return true;
  return std::find(keep.only.begin(), keep.only.end(), inputs[declared].name) != keep.only.end();
}

std::string OpInfo::operand_name(std::size_t position) const {
  if (takes_any_number()) return fmt::format("{}[{}]", inputs[0].name, position);
  return std::string(inputs[position].name);
}

void OpInfo::place_rows(std::byte* fields, std::int32_t rows, std::uint64_t seed, std::uint64_t step,
                        std::uint64_t instance_key, std::uint32_t first) const {
  const auto count = static_cast<std::uint32_t>(rows);
  for (std::uint32_t r = 0; r < count; ++r) {
    std::byte* const of_row = fields + std::size_t{r} * static_cast<std::size_t>(field_bytes);
    if (place_random != nullptr) place_random(of_row, seed, step, instance_key, first + r);
    for (const RandomPart& part : random_parts)
      part.info->place_random(of_row + part.begin, seed, step, instance_key, first + part.number * count + r);
  }
}

void OpInfo::prepare() {
  ragged_ = inputs.size() == 1 && inputs[0].role == Role::kRagged;
  never_shared_ = per_instance || inputs.empty();
  by_identity_ = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].role == Role::kEither || inputs[i].role == Role::kShared) by_identity_ |= std::uint64_t{1} << i;
}

namespace {

/// Readers take no lock: an entry is published by `count` and never changes or moves afterwards.
class Registry {
 public:
  static constexpr std::int32_t kMost = 4096;

  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  const OpInfo& operator[](OpId id) const { return ops_[static_cast<std::size_t>(index_of(id))]; }
  std::int32_t count() const { return count_.load(std::memory_order_acquire); }

  std::int32_t find(std::string_view name) const {
    for (std::int32_t i = 0; i < count(); ++i)
      if (ops_[static_cast<std::size_t>(i)].name == name) return i;
    return -1;
  }

  OpId add(const OpInfo& info) {
    std::lock_guard lock(mutex_);
    if (const std::int32_t known = find(info.name); known >= 0) {
      if (ops_[static_cast<std::size_t>(known)].infer != info.infer)
        throw UsageError(fmt::format("register_op: the name \"{}\" is taken by another op", info.name));
      return OpId{known};
    }
    const std::int32_t id = count();
    if (id == kMost) throw ResourceError(fmt::format("register_op: {} ops are registered, the most there can be", id));
    ops_[static_cast<std::size_t>(id)] = info;
    ops_[static_cast<std::size_t>(id)].id = OpId{id};
    ops_[static_cast<std::size_t>(id)].prepare();
    count_.store(id + 1, std::memory_order_release);
    return OpId{id};
  }

 private:
  Registry() {
    for (const OpInfo& info : library_ops()) add(info);
  }

  std::mutex mutex_;
  std::array<OpInfo, kMost> ops_;
  std::atomic<std::int32_t> count_{0};
};

}  // namespace

const OpInfo& op_info(OpId op) { return Registry::instance()[op]; }

std::int32_t op_count() { return Registry::instance().count(); }

OpId find_op(std::string_view name) {
  const std::int32_t found = Registry::instance().find(name);
  if (found < 0)
    throw UsageError(fmt::format("op \"{}\" is not registered; call register_op<T>() once before its first use", name));
  return OpId{found};
}

OpId add_op(const OpInfo& info) { return Registry::instance().add(info); }

}  // namespace espalier
