/// Products of a few rows by weights of the sizes that small models have, as the executor calls them, one thread: the
/// figures behind the limits in kernels/small_product.h and graph/parameter.cc. `general` is oneDNN alone, `small` our
/// own, `chosen` what product.h chooses, `prepared` the same with weights laid out before, `lay_out` what that costs.
#include <benchmark/benchmark.h>
#include <dnnl.h>
#include <omp.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "espalier/base/threads.h"
#include "espalier/kernels/prepared.h"
#include "espalier/kernels/product.h"
#include "espalier/kernels/small_product.h"
#include "espalier/tensor/tensor.h"

namespace espalier::kernels {
namespace {

enum class Form { kPlain, kTransposedB, kTransposedA };

/// Operands of y[m, n] = x[m, k] W[k, n] and its two gradients.
struct Operands {
  Operands(std::int64_t rows, std::int64_t inner, std::int64_t outer)
      : m(rows), k(inner), n(outer), memory{filled(m * k, 0.5), filled(k * n, 0.25), filled(m * n, 1)} {}
  static Tensor filled(std::int64_t size, double value) {
    return Tensor::filled({static_cast<std::int32_t>(size)}, value);
  }

  std::int64_t m, k, n;
  std::array<Tensor, 3> memory;  // aligned, as that of the executor is
  std::span<float> x = memory[0].as<float>();
  std::span<float> w = memory[1].as<float>();
  std::span<float> y = memory[2].as<float>();
};

void chosen(Operands& o, Form form) {
  switch (form) {
    case Form::kPlain: return product(o.m, o.n, o.k, o.x.data(), o.k, o.w.data(), o.n, o.y.data(), o.n, true);
    case Form::kTransposedB:
      return product_transposed_b(o.m, o.k, o.n, o.y.data(), o.n, o.w.data(), o.n, o.x.data(), o.k, true);
    case Form::kTransposedA:
      return product_transposed_a(o.k, o.n, o.m, o.x.data(), o.k, o.y.data(), o.n, o.w.data(), o.n, true);
  }
}

void general(Operands& o, Form form) {
  switch (form) {
    case Form::kPlain:
      dnnl_sgemm('N', 'N', o.m, o.n, o.k, 1, o.x.data(), o.k, o.w.data(), o.n, 1, o.y.data(), o.n);
      return;
    case Form::kTransposedB:
      dnnl_sgemm('N', 'T', o.m, o.k, o.n, 1, o.y.data(), o.n, o.w.data(), o.n, 1, o.x.data(), o.k);
      return;
    case Form::kTransposedA:
      dnnl_sgemm('T', 'N', o.k, o.n, o.m, 1, o.x.data(), o.k, o.y.data(), o.n, 1, o.w.data(), o.n);
      return;
  }
}

void small(Operands& o, Form form) {
  const Rows x{o.x.data(), o.m, o.k, o.k, nullptr};
  const Rows y{o.y.data(), o.m, o.n, o.n, nullptr};
  switch (form) {
    case Form::kPlain: return small_product(x, o.w.data(), o.n, nullptr, y, true);
    case Form::kTransposedB: return small_product_transposed(y, o.w.data(), o.n, x, true);
    case Form::kTransposedA: return small_weight_gradient(x, y, o.w.data(), o.n, true);
  }
}

template <class F>
void run(benchmark::State& state, Form form, const F& f) {
  set_thread_count(1);
  omp_set_num_threads(1);
  Operands operands(state.range(0), state.range(1), state.range(2));
  f(operands, form);  // oneDNN makes its code at the first call
  for (auto _ : state) {
    f(operands, form);
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(state.iterations() * operands.m * operands.k * operands.n),
                         benchmark::Counter::kIsRate);
}

/// Only y = x W and the gradient of x have weights to lay out.
Prepared lay_out(const Operands& o, Form form) {
  Prepared weights;
  if (form == Form::kPlain)
    weights.assign(o.k, o.n, o.w.data(), o.n);
  else
    weights.assign_transposed(o.n, o.k, o.w.data(), o.n);
  return weights;
}

void run_prepared(benchmark::State& state, Form form) {
  Prepared weights;
  run(state, form, [&](Operands& o, Form of) {
    if (weights.empty()) weights = lay_out(o, of);
    if (of == Form::kPlain)
      weights.product(o.m, o.x.data(), o.k, nullptr, o.y.data(), o.n, true);
    else
      weights.product(o.m, o.y.data(), o.n, nullptr, o.x.data(), o.k, true);
  });
}

void run_lay_out(benchmark::State& state, Form form) {
  const Operands operands(1, state.range(0), state.range(1));
  Prepared weights = lay_out(operands, form);
  for (auto _ : state) {
    if (form == Form::kPlain)
      weights.assign(operands.k, operands.n, operands.w.data(), operands.n);
    else
      weights.assign_transposed(operands.n, operands.k, operands.w.data(), operands.n);
    benchmark::ClobberMemory();
  }
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const auto& [k, n] : {std::pair{16, 16}, {64, 64}, {128, 320}, {300, 750}, {512, 2048}, {2048, 1024}})
    for (std::int64_t m : {1, 4, 8, 16, 64, 256}) benchmark->Args({m, k, n});
}

/// Of small models: layers, gates, heads.
void small_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->MinTime(0.02);
  for (const auto& [k, n] : {std::pair{32, 32},
                             {80, 32},
                             {128, 32},
                             {64, 64},
                             {128, 128},
                             {160, 128},
                             {64, 256},
                             {256, 256},
                             {150, 750},
                             {150, 5},
                             {32, 17},
                             {32, 1}})
    for (std::int64_t m : {1, 2, 4, 8, 16, 32, 64}) benchmark->Args({m, k, n});
}

BENCHMARK_CAPTURE(run, small_plain, Form::kPlain, small)->Apply(small_sizes);
BENCHMARK_CAPTURE(run, general_plain, Form::kPlain, general)->Apply(small_sizes);
BENCHMARK_CAPTURE(run_prepared, plain, Form::kPlain)->Apply(small_sizes);
BENCHMARK_CAPTURE(run, small_transposed_b, Form::kTransposedB, small)->Apply(small_sizes);
BENCHMARK_CAPTURE(run, general_transposed_b, Form::kTransposedB, general)->Apply(small_sizes);
BENCHMARK_CAPTURE(run_prepared, transposed_b, Form::kTransposedB)->Apply(small_sizes);
BENCHMARK_CAPTURE(run, small_transposed_a, Form::kTransposedA, small)->Apply(small_sizes);
BENCHMARK_CAPTURE(run, general_transposed_a, Form::kTransposedA, general)->Apply(small_sizes);
BENCHMARK_CAPTURE(run, general_plain, Form::kPlain, general)->Apply(sizes);
BENCHMARK_CAPTURE(run, chosen_plain, Form::kPlain, chosen)->Apply(sizes);
BENCHMARK_CAPTURE(run, general_transposed_b, Form::kTransposedB, general)->Apply(sizes);
BENCHMARK_CAPTURE(run, chosen_transposed_b, Form::kTransposedB, chosen)->Apply(sizes);
BENCHMARK_CAPTURE(run, general_transposed_a, Form::kTransposedA, general)->Apply(sizes);
BENCHMARK_CAPTURE(run, chosen_transposed_a, Form::kTransposedA, chosen)->Apply(sizes);
BENCHMARK_CAPTURE(run_prepared, plain, Form::kPlain)->Apply(sizes);
BENCHMARK_CAPTURE(run_prepared, transposed_b, Form::kTransposedB)->Apply(sizes);
BENCHMARK_CAPTURE(run_lay_out, plain, Form::kPlain)->Args({300, 750});
BENCHMARK_CAPTURE(run_lay_out, transposed_b, Form::kTransposedB)
    ->Args({32, 32})
    ->Args({80, 32})
    ->Args({128, 128})
    ->Args({300, 750});

}  // namespace
}  // namespace espalier::kernels

BENCHMARK_MAIN();
