/// Signatures: what must be equal for two nodes to run together, interned to small integers.
///
/// A key is a list of 32-bit words: the op, its attributes, then a word an input: the type of a stacked input, or the
/// node of a shared one. Keys are compared word by word; the hash is only a shortcut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/dtype.h"
#include "espalier/base/ids.h"
#include "espalier/base/shape.h"
#include "espalier/graph/op_info.h"

namespace espalier {

struct Type {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::int64_t elements = 1;

  /// As in "float32[64, 128]".
  std::string to_string() const { return std::string(name_of(dtype)) + shape.to_string(); }
};

class TypeTable {
 public:
  TypeId intern(DType dtype, const Shape& shape);
  const Type& operator[](TypeId id) const { return types_[static_cast<std::size_t>(index_of(id))]; }

 private:
  std::vector<Type> types_;
};

struct Signature {
  const OpInfo* info = nullptr;
  TypeId type{};                // of the output
  std::int64_t saved = 0;       // floats a row that forward leaves for backward
  std::int64_t view = -1;       // where in its only input the result begins, or -1 if it is no part of it
  std::int32_t choices = 0;     // a first field from 0 to below so many needs no check
  bool side_by_side = false;    // the result is its inputs, one after the other
  std::uint32_t key_begin = 0;  // where its words start
  std::uint32_t key_words = 0;
};

class SignatureTable {
 public:
  SignatureTable() { clear(); }

  /// The id of an equal key, or -1. `hash` must come from hash_of(key).
  std::int32_t find(std::span<const std::uint32_t> key, std::uint64_t hash) const {
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.hash == hash && equal(slot, key)) [[likely]]
        return slot.id;
      if (slot.id < 0) return -1;
    }
  }
  /// Adds a key that find() did not find; `signature` without its key's place.
  SignatureId add(std::span<const std::uint32_t> key, std::uint64_t hash, Signature signature);

  const Signature& operator[](SignatureId id) const { return signatures_[static_cast<std::size_t>(index_of(id))]; }
  std::span<const std::uint32_t> key(SignatureId id) const {
    return {words_.data() + (*this)[id].key_begin, (*this)[id].key_words};
  }
  /// The attributes inside the key: they follow the op.
  const void* attrs(SignatureId id) const { return words_.data() + (*this)[id].key_begin + 1; }
  std::int32_t size() const { return size_; }
  /// Forgets the signatures from `size` on.
  void truncate(std::int32_t size);
  void clear();

  /// Of a key, word by word.
  class Hash {
   public:
    void add(std::uint32_t word) { state_ = (state_ ^ word) * 0x9E3779B97F4A7C15ULL; }
    /// The table is indexed by the low bits; multiplying moved what differs up.
    std::uint64_t value() const { return state_ ^ state_ >> 32; }

   private:
    std::uint64_t state_ = 0x2545F4914F6CDD1DULL;
  };
  static std::uint64_t hash_of(std::span<const std::uint32_t> key) {
    Hash hash;
    for (std::uint32_t word : key) hash.add(word);
    return hash.value();
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::int32_t id = -1;
    std::uint32_t key_begin = 0;
    std::uint32_t key_words = 0;  // never 0 for a signature: a key has its op
  };

  bool equal(const Slot& slot, std::span<const std::uint32_t> key) const {
    if (slot.key_words != key.size()) return false;
    const std::uint32_t* mine = words_.data() + slot.key_begin;
    for (std::uint32_t word : key)
      if (word != *mine++) return false;
    return true;
  }
  void place(const Slot& slot);
  void rebuild(std::size_t slots);

  std::int32_t size_ = 0;
  std::vector<Signature> signatures_;
  std::vector<std::uint32_t> words_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
};

}  // namespace espalier
