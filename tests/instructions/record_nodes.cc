/// Records as many nodes as its argument says, for a counter of instructions to watch.
#include <cstdlib>

#include "espalier/espalier.h"

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? std::atoi(argv[1]) : 0;
  espalier::Graph graph;
  espalier::Expr x = graph.input(espalier::Tensor({64}));
  for (int i = 0; i < nodes; ++i) x = tanh(x);
  return graph.size() == nodes + 1 ? 0 : 1;
}
