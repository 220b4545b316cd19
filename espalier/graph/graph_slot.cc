#include "espalier/graph/graph_slot.h"

#include <deque>
#include <mutex>

namespace espalier {
namespace {

/// Leaked on purpose: an Expr in a static object may outlive every other static.
struct Pool {
  std::mutex mutex;
  std::deque<GraphSlot> slots;
  GraphSlot* free = nullptr;

  static Pool& instance() {
    static Pool* pool = new Pool;
    return *pool;
  }
};

}  // namespace

GraphSlot* GraphSlot::acquire(Graph* graph) {
  Pool& pool = Pool::instance();
  std::lock_guard lock(pool.mutex);
  GraphSlot* slot = pool.free;
  if (slot != nullptr)
    pool.free = slot->next_free;
  else
    slot = &pool.slots.emplace_back();
  slot->graph.store(graph, std::memory_order_release);
  return slot;
}

void GraphSlot::release(GraphSlot* slot) {
  Pool& pool = Pool::instance();
  std::lock_guard lock(pool.mutex);
  slot->generation.fetch_add(1, std::memory_order_release);
  slot->graph.store(nullptr, std::memory_order_release);
  slot->next_free = pool.free;
  pool.free = slot;
}

}  // namespace espalier
