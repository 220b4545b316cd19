/// Runs the examples in the headers of blocks: they compile, their types agree, and nothing is refused.
#include "tests/docs/block_examples.h"

#include <cstdio>

int main() {
  int wrong = 0;
  for (const auto& [form, run] : espalier::blocks::examples::kAll) {
    try {
      run();
    } catch (const espalier::Error& error) {
      std::printf("the example of %s: %s\n", form, error.what());
      wrong = 1;
    }
  }
  std::printf("%zu examples\n", espalier::blocks::examples::kAll.size());
  return wrong;
}
