#include "espalier/graph/signatures.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/graph/limits.h"

namespace espalier {

TypeId TypeTable::intern(DType dtype, const Shape& shape) {
  // A graph has few types, and they are looked for only when a signature is new.
  for (std::size_t i = 0; i < types_.size(); ++i)
    if (types_[i].dtype == dtype && types_[i].shape == shape) return TypeId{static_cast<std::int32_t>(i)};
  types_.push_back({dtype, shape, shape.elements()});
  return TypeId{static_cast<std::int32_t>(types_.size() - 1)};
}

SignatureId SignatureTable::add(std::span<const std::uint32_t> key, std::uint64_t hash, Signature signature) {
  const std::size_t words = words_.size() + 1 + key.size();
  if (words > static_cast<std::size_t>(GraphLimits::current().key_words))
    throw ResourceError(fmt::format(
        "graph: the keys of its signatures would have {} words, and {} are the most there can be; it has {} "
        "signatures",
        words, GraphLimits::current().key_words, size_));
  if (words_.size() % 2 == 0) words_.push_back(0);  // so that attributes, after the op, may hold 8-byte numbers
  signature.key_begin = static_cast<std::uint32_t>(words_.size());
  signature.key_words = static_cast<std::uint32_t>(key.size());
  words_.insert(words_.end(), key.begin(), key.end());
  const std::int32_t id = size_++;
  signatures_.push_back(signature);
  if (signatures_.size() * 2 > slots_.size()) rebuild(slots_.size() * 2);
  place({hash, id, signature.key_begin, signature.key_words});
  return SignatureId{id};
}

void SignatureTable::clear() {
  size_ = 0;
  signatures_.clear();
  words_.clear();
  slots_.assign(64, Slot{});
  mask_ = slots_.size() - 1;
}

void SignatureTable::place(const Slot& slot) {
  std::size_t at = slot.hash & mask_;
  while (slots_[at].id >= 0) at = (at + 1) & mask_;
  slots_[at] = slot;
}

void SignatureTable::truncate(std::int32_t size) {
  if (size == size_) return;
  const auto kept = static_cast<std::size_t>(size);
  words_.resize(signatures_[kept].key_begin);
  signatures_.resize(kept);
  size_ = size;
  rebuild(slots_.size());
}

void SignatureTable::rebuild(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old)
    if (slot.id >= 0 && slot.id < size_) place(slot);
}

}  // namespace espalier
