/// Slot: what a register of a compiled model holds while an instance is walked; Keep: memory that lives as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/graph/expr.h"

namespace espalier::blocks {

struct Instruction;

/// A tensor, an input or a sequence; types, known when compiled, say which. A tuple is as many slots as its items, an
/// infinite sequence those of its element, void none.
union Slot {
  /// The elements one after the other, each as many slots as its type has.
  struct Sequence {
    Slot* data;
    std::int64_t count;
  };
  /// Where a loop stands.
  struct Place {
    std::int64_t next;
    std::int64_t end;
  };

  /// Before the frame of a procedure: what called it, and where it goes on. Null: with whoever ran the procedure.
  struct Link {
    const Instruction* call;
    const Instruction* back;
  };

  Slot() : input(nullptr) {}

  Expr expr;
  const void* input;  // null: there is none, as a pointer or optional may say
  Sequence sequence;
  Place place;
  Link link;
};
static_assert(sizeof(Slot) == 16 && sizeof(Expr) == 16 && std::is_trivially_copyable_v<Slot>);

/// The place of a register in a frame, in bytes: what a processor adds to an address as it is.
struct Offset {
  explicit Offset(std::int32_t number) : bytes(static_cast<std::uint32_t>(number) * sizeof(Slot)) {}
  std::uint32_t bytes;
};
inline Slot& slot_at(Slot* frame, Offset offset) {
  return *reinterpret_cast<Slot*>(reinterpret_cast<std::byte*>(frame) + offset.bytes);
}

/// Sequences, and the objects that accessors return by value, until the walk of an instance is over.
class Keep {
 public:
  Keep() = default;
  Keep(const Keep&) = delete;
  Keep& operator=(const Keep&) = delete;
  ~Keep() { clear(); }

  Slot* slots(std::int64_t count) {
    Slot* result = arena_.allocate_array<Slot>(count);
    for (std::int64_t i = 0; i < count; ++i) new (result + i) Slot();
    return result;
  }
  template <class T>
  const T* keep(T&& object) {
    using Object = std::remove_cvref_t<T>;
    static_assert(alignof(Object) <= alignof(std::max_align_t));
    auto* kept = new (room(sizeof(Object))) Object(std::forward<T>(object));
    if constexpr (!std::is_trivially_destructible_v<Object>)
      ends_.push_back({kept, [](void* p) { static_cast<Object*>(p)->~Object(); }});
    return kept;
  }
  void clear() {
    small_ = nullptr;
    small_left_ = 0;
    for (; !ends_.empty(); ends_.pop_back()) ends_.back().end(ends_.back().object);
    arena_.clear();
  }

 private:
  /// Objects side by side: the arena itself gives no less than 64 bytes.
  std::byte* room(std::size_t bytes) {
    constexpr std::size_t kPiece = 1024;
    constexpr std::size_t kAlign = alignof(std::max_align_t);
    const std::size_t size = (bytes + kAlign - 1) & ~(kAlign - 1);
    if (size > kPiece) return arena_.allocate(size);
    if (size > small_left_) {
      small_ = arena_.allocate(kPiece);
      small_left_ = kPiece;
    }
    small_left_ -= size;
    return std::exchange(small_, small_ + size);
  }

  struct End {
    void* object;
    void (*end)(void*);
  };
  Arena arena_;
  std::byte* small_ = nullptr;
  std::size_t small_left_ = 0;
  std::vector<End> ends_;
};

}  // namespace espalier::blocks
