/// The guess at a format, and the description of a file.
#include "espalier/data/describe.h"

#include "fuzz/input.h"

namespace espalier::fuzz {

void describe(std::string_view input) {
  const MemoryFile file(input);
  accepts([&] { data::guess_format(file.path()); });
  const bool whole = accepts([&] { data::describe(file.path()); });
  const bool readable = accepts([&] { data::describe(file.path(), {.skip_damaged = true}); });
  check(!whole || readable, "skipping refuses nothing more");
}

}  // namespace espalier::fuzz
