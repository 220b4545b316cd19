#include "espalier/graph/signatures.h"

namespace espalier {

TypeId TypeTable::intern(DType dtype, const Shape& shape) {
  // A graph has few types, and they are looked for only when a signature is new.
  for (std::size_t i = 0; i < types_.size(); ++i)
    if (types_[i].dtype == dtype && types_[i].shape == shape) return TypeId{static_cast<std::int32_t>(i)};
  types_.push_back({dtype, shape, shape.elements()});
  return TypeId{static_cast<std::int32_t>(types_.size() - 1)};
}

SignatureId SignatureTable::add(std::span<const std::uint32_t> key, std::uint64_t hash, Signature signature) {
  if (words_.size() % 2 == 0) words_.push_back(0);  // so that attributes, after the op, may hold 8-byte numbers
  signature.key_begin = static_cast<std::uint32_t>(words_.size());
  signature.key_words = static_cast<std::uint32_t>(key.size());
  words_.insert(words_.end(), key.begin(), key.end());
  const auto id = static_cast<std::int32_t>(signatures_.size());
  signatures_.push_back(signature);
  if (signatures_.size() * 2 > slots_.size()) rebuild(slots_.size() * 2);
  place({hash, id, signature.key_begin, signature.key_words});
  return SignatureId{id};
}

void SignatureTable::clear() {
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

void SignatureTable::truncate(std::size_t size) {
  if (size == signatures_.size()) return;
  words_.resize(signatures_[size].key_begin);
  signatures_.resize(size);
  rebuild(slots_.size());
}

void SignatureTable::rebuild(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old)
    if (slot.id >= 0 && static_cast<std::size_t>(slot.id) < signatures_.size()) place(slot);
}

}  // namespace espalier
