/// A training step costs the rows of a table that it uses, whatever the size of the table. Every call of operator new
/// in this program is counted.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "espalier/nn/embedding.h"
#include "espalier/nn/model.h"
#include "espalier/ops/all.h"
#include "espalier/optim/adam.h"

namespace {

std::atomic<std::int64_t> bytes_of_new{0};

void* counted_bytes(void* p, std::size_t size) {
  if (p == nullptr) throw std::bad_alloc();
  bytes_of_new.fetch_add(static_cast<std::int64_t>(size), std::memory_order_relaxed);
  return p;
}

}  // namespace

void* operator new(std::size_t size) { return counted_bytes(std::malloc(size == 0 ? 1 : size), size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted_bytes(std::aligned_alloc(unit, (size + unit) / unit * unit), size);
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

constexpr std::int32_t kUsed = 50;

/// The bytes that two steps ask for, each with a new graph.
template <class Record>
std::int64_t bytes_of_steps(std::int32_t rows, const Record& record) {
  Model model;
  const nn::Embedding words(model / "words", rows, 8, {.init = init::zeros()});
  optim::Adam adam(model);
  const std::int64_t before = bytes_of_new.load();
  for (int step = 0; step < 2; ++step) {
    Graph graph;
    const Expr loss = record(graph, words, rows / kUsed);
    loss.backward();
    adam.step();
  }
  return bytes_of_new.load() - before;
}

Expr one_by_one(Graph& graph, const nn::Embedding& words, std::int32_t apart) {
  std::vector<Expr> all;
  for (std::int32_t i = 0; i < kUsed; ++i)
    for (int twice = 0; twice < 2; ++twice) all.push_back(sum(tanh(words(graph, i * apart)), 0));
  return sum(all);
}

Expr many_rows(Graph& graph, const nn::Embedding& words, std::int32_t apart) {
  std::array<std::int32_t, 2 * kUsed> ids{};
  for (std::int32_t i = 0; i < 2 * kUsed; ++i) ids[static_cast<std::size_t>(i)] = i / 2 * apart;
  return sum({sum(tanh(words.rows(graph, ids)), 0)});
}

TEST(Vocabulary, AStepTakesMemoryForTheRowsItUses) {
  for (const auto& record : {one_by_one, many_rows}) {
    bytes_of_steps(1000, record);  // what a process makes once
    const std::int64_t small = bytes_of_steps(1000, record);
    const std::int64_t large = bytes_of_steps(1'000'000, record);
    EXPECT_GT(small, 0);
    // The moments of a small table are counted; those of a large one are pages of zeros.
    EXPECT_LE(large, small + 100'000);
  }
}

}  // namespace
}  // namespace espalier
