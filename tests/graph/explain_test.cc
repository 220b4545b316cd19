/// The texts a graph gives of its nodes, to the letter.
#include <gtest/gtest.h>

#include <string>

#include "espalier/graph/graph.h"
#include "espalier/ops/linear.h"
#include "espalier/ops/lookup.h"
#include "espalier/ops/sum.h"
#include "espalier/ops/tanh.h"
#include "tests/support/here.h"

namespace espalier {
namespace {

using testing::here;

TEST(Explain, ASmallGraph) {
  const Parameter words("words", Tensor({9, 4}));
  const Parameter W("cell.W", Tensor({4, 2}));
  Graph graph;
  std::vector<Expr> losses;
  int line = 0;
  for (int i = 0; i < 2; ++i) {
    graph.begin_instance();
    line = __LINE__, losses.push_back(tanh(linear(lookup(graph, words, i), W)));
  }
  sum(losses);
  EXPECT_EQ(graph.list_nodes(),
            "graph of 9 nodes, 6 signatures, 2 instances\n"
            "  parameter \"words\"                                    float32[9, 4]\n"
            "  node 1 = lookup(\"words\")                             float32[4]  instance 0  " +
                here(line) +
                "\n"
                "  parameter \"cell.W\"                                   float32[4, 2]\n"
                "  node 3 = linear(node 1, \"cell.W\")                    float32[2]  instance 0  " +
                here(line) +
                "\n"
                "  node 4 = tanh(node 3)                                float32[2]  instance 0  " +
                here(line) +
                "\n"
                "  node 5 = lookup(\"words\")                             float32[4]  instance 1  " +
                here(line) +
                "\n"
                "  node 6 = linear(node 5, \"cell.W\")                    float32[2]  instance 1  " +
                here(line) +
                "\n"
                "  node 7 = tanh(node 6)                                float32[2]  instance 1  " +
                here(line) +
                "\n"
                "  node 8 = sum(node 4, node 7)                         float32[2]  joint  " +
                here(line + 2) + "\n");
}

TEST(Explain, DescribesANode) {
  const Parameter W("W", Tensor({2, 2}));
  Graph graph;
  const Expr x = graph.input(Tensor({2}));
  EXPECT_EQ(graph.describe(x.node()), "node 0 = input()");
  EXPECT_EQ(graph.describe(linear(x, W).node()), "node 2 = linear(node 0, \"W\")");
  EXPECT_EQ(graph.describe(NodeId{1}), "parameter \"W\"");
  EXPECT_EQ(graph.describe(sum(std::vector<Expr>(9, x)).node()),
            "node 3 = sum(node 0, node 0, node 0, node 0, node 0, node 0, and 3 more)");
}

}  // namespace
}  // namespace espalier
