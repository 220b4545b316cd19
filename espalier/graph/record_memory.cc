/// Recorder: the memory of its records, and when it is forgotten.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/graph/leaf.h"
#include "espalier/graph/limits.h"
#include "espalier/graph/recorder.h"

namespace espalier {
namespace {

/// Makes room for `at_least` values, and for no more than the limit: a column that is full is looked at again. Gives
/// the new capacity.
template <class T>
std::size_t grown(std::string_view what, Column<T>& column, std::size_t capacity, std::size_t at_least,
                  std::size_t first, std::int64_t limit) {
  const auto most = static_cast<std::size_t>(limit);
  if (at_least > most)
    throw ResourceError(
        fmt::format("graph: its nodes would have {} {}, and {} are the most there can be", at_least, what, most));
  // Small columns are copied when they grow, so they grow faster.
  const std::size_t wished = std::max({at_least, capacity * (capacity < 1 << 16 ? 4 : 2), first});
  const std::size_t result = std::min(wished, most);
  column.reserve(result);
  return result;
}

}  // namespace

GraphLimits& GraphLimits::current() {
  static GraphLimits limits;
  return limits;
}

Recorder::Recorder(const GraphOptions& options, Graph& graph)
    : options_(options), slot_(GraphSlot::acquire(&graph)), generation_(slot_->generation.load()) {
  grow();
  begin_[0].inputs = 0;
}

Recorder::~Recorder() { GraphSlot::release(slot_); }

void Recorder::grow_inputs(std::size_t at_least) {
  input_capacity_ = grown("inputs", inputs_, input_capacity_, at_least, 256, GraphLimits::current().inputs);
}

void Recorder::make_room() {
  if (size_ == capacity_) grow();
  room_ = capacity_;
  recording_.start();
}

std::int64_t Recorder::record_bytes() const {
  const auto nodes = static_cast<std::size_t>(size_);
  const std::size_t per_node = sizeof(SignatureId) + sizeof(Head) + sizeof(SourceLine) + sizeof(Begin);
  const std::size_t inputs = nodes == 0 ? 0 : begin_[nodes].inputs;
  return static_cast<std::int64_t>(nodes * per_node + inputs * sizeof(NodeId) + field_size_ + leaf_data_.bytes_used());
}

void Recorder::grow() {
  const std::int32_t most = GraphLimits::current().nodes;
  if (size_ >= most) throw ResourceError(fmt::format("graph: {} nodes are recorded, the most there can be", size_));
  // Small columns are copied when they grow, so they grow faster.
  const std::int32_t factor = capacity_ < 1 << 16 ? 4 : 2;
  const std::int32_t capacity = capacity_ > most / factor ? most : std::min(most, std::max(256, capacity_ * factor));
  const auto n = static_cast<std::size_t>(capacity);
  signature_.reserve(n);
  head_.reserve(n);
  source_.reserve(n);
  begin_.reserve(n + 1);
  capacity_ = capacity;  // where there is no memory for so many, it stays what it was
}

// Not inlined: many nodes have no fields, and recording is quicker without this code in its middle.
[[gnu::noinline]] std::uint32_t Recorder::add_fields(const void* fields, std::size_t bytes) {
  const std::size_t begin = (field_size_ + 7) & ~std::size_t{7};
  if (begin + bytes > field_capacity_) [[unlikely]]
    grow_fields(begin + bytes);
  field_size_ = begin + bytes;
  if (bytes == sizeof(void*))
    std::memcpy(fields_.data() + begin, fields, sizeof(void*));  // most are as long; known, it is no call
  else if (bytes == sizeof(ParameterFields))
    std::memcpy(fields_.data() + begin, fields, sizeof(ParameterFields));
  else
    std::memcpy(fields_.data() + begin, fields, bytes);
  return static_cast<std::uint32_t>(begin);
}

/// Fields of many rows: those that were given for each, or the one that was given for all.
std::uint32_t Recorder::add_fields(const void* fields, std::size_t bytes, std::int32_t rows, std::int32_t given) {
  if (rows == kSingle) return add_fields(fields, bytes);
  if (given != kSingle) return add_fields(fields, bytes * static_cast<std::size_t>(rows));
  std::vector<std::byte> all;
  for (std::int32_t r = 0; r < rows; ++r)
    all.insert(all.end(), static_cast<const std::byte*>(fields), static_cast<const std::byte*>(fields) + bytes);
  return add_fields(all.data(), all.size());
}

void Recorder::grow_fields(std::size_t at_least) {
  field_capacity_ =
      grown("bytes of fields", fields_, field_capacity_, at_least, 1024, GraphLimits::current().field_bytes);
}

bool Recorder::keeps_signatures() const {
  constexpr std::int32_t kMany = 1024;
  return !names_nodes_ && signatures_.size() <= kMany && parameters_.numbers() <= kMany;
}

void Recorder::forget_signatures() {
  signatures_.clear();
  parameters_.clear();
  held_.clear();
  replayed_.clear();
  names_nodes_ = false;
  ++signature_epoch_;
}

}  // namespace espalier
