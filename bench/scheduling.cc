/// What scheduling costs: nanoseconds a node, by strategy, kind of graph and size, and how that grows with the size.
/// Times are the thread's own, the least of several runs: other programs on the machine count as little as can be.
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string>

#include "espalier/base/random.h"
#include "espalier/batch/schedule.h"
#include "tests/batch/workloads.h"

namespace espalier::batch {
namespace {

struct Workload {
  const char* name;
  SmallGraph (*make)(Random&, int instances);
  int nodes_each;  // nodes an instance has on average
};
constexpr std::array kWorkloads{
    Workload{"trees by cells", random_treebank, 74},
    Workload{"trees by ops", random_op_treebank, 580},
    Workload{"word lattices", random_lattices, 112},
};
constexpr std::array kStrategies{Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier};
constexpr std::array kSizes{1000, 10'000, 100'000, 1'000'000};

double nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// At least `size` nodes.
SmallGraph make_graph(const Workload& workload, int size) {
  for (int instances = size / workload.nodes_each + 1;; ++instances) {
    Random random(1);
    SmallGraph graph = workload.make(random, instances);
    if (graph.size() >= size) return graph;
  }
}

/// Schedules until a fifth of a second has passed, at least five times; gives the least time of one.
double least_time(Strategy strategy, const Graph& graph, Schedule& made) {
  const double start = nanoseconds();
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 5 || nanoseconds() - start < 2e8; ++run) {
    const double before = nanoseconds();
    made = schedule(strategy, graph);
    least = std::min(least, nanoseconds() - before);
  }
  return least;
}

void measure(const Workload& workload, Strategy strategy) {
  double first = 0;
  double last = 0;
  for (int size : kSizes) {
    const SmallGraph graph = make_graph(workload, size);
    Schedule made;
    last = least_time(strategy, graph.view(), made) / graph.size();
    if (first == 0) first = last;
    std::printf("%-14s  %-8s  %8d nodes  %6.1f ns a node  %5lld steps  bound %s%lld\n", workload.name,
                std::string(name_of(strategy)).c_str(), graph.size(), last, static_cast<long long>(made.steps()),
                made.bound_is_exact ? "" : ">= ", static_cast<long long>(made.bound));
  }
  std::printf("%-14s  %-8s  grows %.2f times from the smallest to the largest\n", workload.name,
              std::string(name_of(strategy)).c_str(), last / first);
}

}  // namespace
}  // namespace espalier::batch

int main() {
  for (const auto& workload : espalier::batch::kWorkloads)
    for (espalier::Strategy strategy : espalier::batch::kStrategies) espalier::batch::measure(workload, strategy);
  return 0;
}
