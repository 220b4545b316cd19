/// KnownCells: what a graph remembers of the uses of cells, so that a use like an earlier one is recorded without
/// asking again what it compiles to, which parameters it has, and what its signature is.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/ids.h"

namespace espalier {

/// What a cell was compiled to: its own affair.
struct CompiledCell {
  virtual ~CompiledCell() = default;
};

/// The nodes of a use of a cell for inputs of some types, all of them stacked.
struct KnownCell {
  static constexpr std::size_t kMostInputs = 8;

  std::uint64_t cell = 0;  // 0: none; uids start at 1
  static constexpr std::size_t kMostSignatures = 4;

  std::uint32_t epoch = 0;  // of the graph, when the nodes were recorded
  std::uint32_t inputs = 0;
  std::array<TypeId, kMostInputs> types{};
  const CompiledCell* compiled = nullptr;
  NodeId projection{};       // if it has one
  NodeId update{};           // likewise
  std::int32_t results = 0;  // where the update is all there is, of the very inputs: how many it has; else 0
  /// Of a recursion, the signatures of its results, which outlive clear(); and of which epoch they are, 0 for none.
  std::array<SignatureId, kMostSignatures> signatures{};
  std::uint32_t signature_epoch = 0;

  bool is_of(std::uint64_t uid, std::span<const TypeId> of) const {
    if (cell != uid || inputs != of.size()) return false;
    for (std::size_t i = 0; i < of.size(); ++i)
      if (types[i] != of[i]) return false;
    return true;
  }
};

/// An open-addressed table.
class KnownCells {
 public:
  /// The entry of this cell and these types; null if there is none.
  KnownCell* find(std::uint64_t cell, std::span<const TypeId> types) {
    for (std::size_t at = place_of(cell, types.size());; at = (at + 1) & mask()) {
      if (slots_[at].is_of(cell, types)) return &slots_[at];
      if (slots_[at].cell == 0) return nullptr;
    }
  }
  /// Adds an entry that find() did not find, or puts it in the place of an equal one.
  void put(const KnownCell& known) {
    const std::span<const TypeId> types(known.types.data(), known.inputs);
    if (KnownCell* old = find(known.cell, types)) {
      *old = known;
      return;
    }
    if (2 * ++size_ > slots_.size()) grow();
    place(known);
  }
  /// Entries of cells that are gone would never leave by themselves.
  void drop_if_many() {
    constexpr std::size_t kMany = 512;
    if (size_ > kMany) *this = KnownCells();
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t place_of(std::uint64_t cell, std::size_t inputs) const { return (cell * 5 + inputs) & mask(); }
  void place(const KnownCell& known) {
    std::size_t at = place_of(known.cell, known.inputs);
    while (slots_[at].cell != 0) at = (at + 1) & mask();
    slots_[at] = known;
  }
  void grow() {
    std::vector<KnownCell> old(2 * slots_.size());
    old.swap(slots_);
    for (const KnownCell& known : old)
      if (known.cell != 0) place(known);
  }

  std::vector<KnownCell> slots_ = std::vector<KnownCell>(16);
  std::size_t size_ = 0;
};

}  // namespace espalier
