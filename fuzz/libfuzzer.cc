/// The entry points that libFuzzer calls. The program runs the target that its own name says: there is a link for each.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "fuzz/targets.h"

namespace {

const espalier::fuzz::Target* chosen = nullptr;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): names of libFuzzer and the sanitizers
extern "C" int LLVMFuzzerInitialize(const int* /*argc*/, const char* const* const* argv) {
  const std::string name = std::filesystem::path((*argv)[0]).filename().string();
  for (const espalier::fuzz::Target& target : espalier::fuzz::kTargets)
    if (target.name == name) chosen = &target;
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "%s: there is no fuzz target of this name\n", name.c_str());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  chosen->run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
// NOLINTEND(readability-identifier-naming)
