/// What planning costs: nanoseconds a node, by kind of graph and size, and how that grows with the size. Training plans
/// of `frontier` schedules, and of one node a step. Times are the thread's own, the least of several runs.
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "espalier/base/random.h"
#include "espalier/batch/schedule.h"
#include "espalier/plan/plan.h"
#include "tests/batch/workloads.h"

namespace espalier::plan {
namespace {

double nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Nodes of two operands are taken for products with shared weights, whose operands want homes; all rows are of 128
/// floats, and backward reads every operand.
Problem problem_of(const batch::SmallGraph& graph) {
  constexpr std::int64_t kRowBytes = 512;
  const batch::Graph view = graph.view();
  Problem problem;
  problem.lifetime = Lifetime::kTraining;
  problem.signature.assign(view.signature.begin(), view.signature.end());
  problem.input_begin.assign(view.input_begin.begin(), view.input_begin.end());
  problem.inputs.assign(view.inputs.begin(), view.inputs.end());
  problem.is_part.assign(problem.inputs.size(), 0);
  problem.is_output.assign(problem.signature.size(), 0);
  problem.facts.resize(static_cast<std::size_t>(view.signatures));
  problem.operand_bytes.resize(problem.facts.size());
  for (std::int32_t v = 0; v < view.size(); ++v) {
    Facts& facts = problem.facts[static_cast<std::size_t>(problem.signature[static_cast<std::size_t>(v)])];
    facts = {.row_bytes = kRowBytes, .keeps_inputs = ~0U};
    if (view.inputs_of(v).size() != 2) continue;
    facts.blocks = 3;
    facts.is_product = facts.defers = true;
    problem.operand_bytes[static_cast<std::size_t>(problem.signature[static_cast<std::size_t>(v)])] = {kRowBytes,
                                                                                                       kRowBytes};
  }
  return problem;
}

struct Workload {
  const char* name;
  batch::SmallGraph (*make)(Random&, int instances);
  int nodes_each;
  Strategy strategy = Strategy::kFrontier;
};
constexpr std::array kWorkloads{
    Workload{"trees by cells", batch::random_treebank, 74},
    Workload{"trees by ops", batch::random_op_treebank, 580},
    Workload{"word lattices", batch::random_lattices, 112},
    Workload{"cells one by one", batch::random_treebank, 74, Strategy::kNone},
    Workload{"ops one by one", batch::random_op_treebank, 580, Strategy::kNone},
};

void measure(const Workload& workload) {
  double first = 0;
  double last = 0;
  for (int size : {1000, 10'000, 100'000, 1'000'000}) {
    Random random(1);
    const batch::SmallGraph graph = workload.make(random, size / workload.nodes_each + 1);
    const batch::Schedule schedule = batch::schedule(workload.strategy, graph.view());
    const Problem problem = problem_of(graph);
    double least = std::numeric_limits<double>::infinity();
    double hashing = least;
    std::int64_t bytes = 0;
    const double start = nanoseconds();
    for (int run = 0; run < 5 || nanoseconds() - start < 3e8; ++run) {
      const double before = nanoseconds();
      const volatile std::uint64_t hash = hash_of(problem);
      static_cast<void>(hash);
      const double between = nanoseconds();
      bytes = make_plan(problem, schedule).values.bytes;
      least = std::min(least, nanoseconds() - before);
      hashing = std::min(hashing, between - before);
    }
    last = least / graph.size();
    if (first == 0) first = last;
    std::printf("%-16s  %8d nodes  %6.1f ns a node, %4.1f of it for the key  %6.0f MB\n", workload.name, graph.size(),
                last, hashing / graph.size(), static_cast<double>(bytes) / 1048576);
  }
  std::printf("%-16s  grows %.2f times from the smallest to the largest\n", workload.name, last / first);
}

}  // namespace
}  // namespace espalier::plan

int main() {
  for (const auto& workload : espalier::plan::kWorkloads) espalier::plan::measure(workload);
}
