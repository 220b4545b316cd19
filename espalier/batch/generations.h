/// Schedules of graphs in which no two signatures depend on each other, as cells over trees: a signature may use
/// itself, but what it uses otherwise never uses it. Then nothing has to be chosen step by step.
///
/// The generation of a node is how many nodes of its signature come before it on a path of such nodes. Signatures run
/// in an order in which none uses a later one, each generation by generation: as many steps as the longest such path
/// has nodes, which is the bound.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/batch/buffer.h"
#include "espalier/batch/components.h"
#include "espalier/batch/graph.h"
#include "espalier/batch/schedule.h"

namespace espalier::batch {

class Generations {
 public:
  /// Whether the graph is of this kind; adds its pairs of signatures, and finds their components, in any case.
  bool look_at(const Graph& graph, SignaturePairs& pairs, Components& components);
  /// The schedule of the graph that was looked at last. Of signatures that could run next, that which has the longest
  /// way to a sink is first; ties go to more nodes, then to the earliest.
  Schedule schedule(const Graph& graph, const SignaturePairs& pairs, const Components& components);

 private:
  struct OfSignature {
    std::int32_t nodes = 0;
    std::int32_t generations = 0;
    std::int32_t begin = 0;    // of its part of next_
    std::int32_t height = 0;   // steps from its first to the last of the longest chain of signatures behind it
    std::int32_t waiting = 0;  // for signatures that it uses
    std::int32_t first = 0;    // its earliest node
  };

  template <class AddPair>
  void find(const Graph& graph, const AddPair& add_pair);
  void order_signatures(const SignaturePairs& pairs, const Components& components);

  Buffer<std::int32_t> generation_;  // by node
  Buffer<std::int32_t> next_;        // by signature and generation: how many nodes, then where the next one goes
  std::vector<OfSignature> of_;
  std::vector<std::int32_t> by_component_;
  std::vector<std::int32_t> ready_;  // a heap
  std::vector<std::int32_t> order_;  // of signatures that occur
};

}  // namespace espalier::batch
