/// The smallest program of a user of the installed library.
#include <espalier/espalier.h>

#include <cstdio>

int main() {
  espalier::Graph g;
  auto x = g.input(espalier::Tensor({3}, {1, 2, 3}));
  auto y = espalier::tanh(x);
  std::puts(y.value().to_string().c_str());
}
