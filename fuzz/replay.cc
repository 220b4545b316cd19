/// Runs every file of the corpus once through its target, without libFuzzer: any compiler can do that.
/// usage: fuzz_corpus FOLDER        FOLDER: has a folder of inputs for each target
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "espalier/base/files.h"
#include "fuzz/targets.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs_in(const fs::path& folder) {
  std::vector<fs::path> inputs;
  if (fs::is_directory(folder))
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) inputs.push_back(entry.path());
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

/// Whether the target finds nothing wrong. Says what it found.
bool holds(const espalier::fuzz::Target& target, const fs::path& input) {
  try {
    target.run(espalier::read_file(input));
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", input.c_str(), error.what());
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_corpus FOLDER\n");
    return 2;
  }
  std::size_t count = 0;
  bool all_hold = true;
  for (const espalier::fuzz::Target& target : espalier::fuzz::kTargets) {
    const std::vector<fs::path> inputs = inputs_in(fs::path(argv[1]) / target.name);
    if (inputs.empty()) {
      std::fprintf(stderr, "%s: the target has no inputs\n", std::string(target.name).c_str());
      all_hold = false;
    }
    for (const fs::path& input : inputs) all_hold = holds(target, input) && all_hold;
    count += inputs.size();
  }
  std::printf("%zu inputs of %zu targets\n", count, espalier::fuzz::kTargets.size());
  return all_hold ? 0 : 1;
}
