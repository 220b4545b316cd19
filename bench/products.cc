/// Products of a few rows by weights of the sizes that small models have, as the executor calls them, one thread: the
/// figures behind the limits in kernels/product.cc and graph/parameter.cc. `general` is oneDNN alone, `chosen` what
/// product.h chooses, `prepared` the same with weights laid out before, `lay_out` what that costs.
#include <benchmark/benchmark.h>
#include <dnnl.h>
#include <omp.h>

#include <string>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/kernels/prepared.h"
#include "espalier/kernels/product.h"

namespace espalier::kernels {
namespace {

enum class Form { kPlain, kTransposedB, kTransposedA };

/// Operands of y[m, n] = x[m, k] W[k, n] and its two gradients.
struct Operands {
  Operands(std::int64_t rows, std::int64_t inner, std::int64_t outer)
      : m(rows), k(inner), n(outer), x(at(m * k), 0.5F), w(at(k * n), 0.25F), y(at(m * n), 1.0F) {}
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::int64_t m, k, n;
  std::vector<float> x, w, y;
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

template <class F>
void run(benchmark::State& state, Form form, const F& f) {
  set_thread_count(1);
  omp_set_num_threads(1);
  Operands operands(state.range(0), state.range(1), state.range(2));
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

BENCHMARK_CAPTURE(run, general_plain, Form::kPlain, general)->Apply(sizes);
BENCHMARK_CAPTURE(run, chosen_plain, Form::kPlain, chosen)->Apply(sizes);
BENCHMARK_CAPTURE(run, general_transposed_b, Form::kTransposedB, general)->Apply(sizes);
BENCHMARK_CAPTURE(run, chosen_transposed_b, Form::kTransposedB, chosen)->Apply(sizes);
BENCHMARK_CAPTURE(run, general_transposed_a, Form::kTransposedA, general)->Apply(sizes);
BENCHMARK_CAPTURE(run, chosen_transposed_a, Form::kTransposedA, chosen)->Apply(sizes);
BENCHMARK_CAPTURE(run_prepared, plain, Form::kPlain)->Apply(sizes);
BENCHMARK_CAPTURE(run_prepared, transposed_b, Form::kTransposedB)->Apply(sizes);
BENCHMARK_CAPTURE(run_lay_out, plain, Form::kPlain)->Args({300, 750});
BENCHMARK_CAPTURE(run_lay_out, transposed_b, Form::kTransposedB)->Args({300, 750});

}  // namespace
}  // namespace espalier::kernels

BENCHMARK_MAIN();
