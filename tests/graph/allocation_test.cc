/// Recording costs no heap allocation a node: every call of operator new in this program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "espalier/graph/graph.h"
#include "espalier/ops/scale.h"
#include "espalier/ops/tanh.h"

namespace {

std::atomic<std::int64_t> allocations{0};

void* counted(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  allocations.fetch_add(1, std::memory_order_relaxed);
  return p;
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (size + unit) / unit * unit));
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // g++ sees operator new inlined, and free() right after it
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#pragma GCC diagnostic pop

namespace espalier {
namespace {

template <class F>
std::int64_t allocations_of(const F& f) {
  const std::int64_t before = allocations.load();
  f();
  return allocations.load() - before;
}

constexpr int kNodes = 100000;
// A dozen arrays that double: about 17 times each.
constexpr std::int64_t kGrowth = 250;

TEST(Allocation, OfMapsDoesNotGrowWithTheNodes) {
  Graph graph;
  Expr x = graph.constant(1);
  EXPECT_LT(allocations_of([&] {
              for (int i = 0; i < kNodes; ++i) x = tanh(x);
            }),
            kGrowth);
}

TEST(Allocation, OfFieldsDoesNotGrowWithTheNodes) {
  Graph graph;
  Expr x = graph.constant(1);
  EXPECT_LT(allocations_of([&] {
              for (int i = 0; i < kNodes; ++i) x = scale(x, 0.5);
            }),
            kGrowth);
}

TEST(Allocation, IsNotRepeatedAfterClear) {
  Graph graph;
  const auto record = [&] {
    Expr x = graph.constant(1);
    for (int i = 0; i < kNodes; ++i) x = tanh(x);
  };
  record();
  graph.clear();
  EXPECT_LT(allocations_of(record), 20);
}

}  // namespace
}  // namespace espalier
