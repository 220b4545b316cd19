#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "espalier/base/error.h"
#include "espalier/cli/block_reference.h"
#include "espalier/cli/commands.h"

namespace espalier::cli {
namespace {

/// The part of the reference from a block's heading to the next. Refuses (UsageError) a name that has none.
std::string_view page_of(std::string_view name) {
  const std::string heading = fmt::format("\n## {}\n", name);
  const std::size_t begin = kBlockReference.find(heading);
  if (begin == std::string_view::npos)
    throw UsageError(fmt::format("there is no block '{}'; `espalier blocks` prints all of them", name));
  const std::size_t end = kBlockReference.find("\n## ", begin + heading.size());
  return kBlockReference.substr(begin + 1, end == std::string_view::npos ? end : end - begin);
}

}  // namespace

void add_blocks(CLI::App& app) {
  CLI::App* command = app.add_subcommand("blocks", "Print the reference of all blocks, or of one, as Markdown");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "The block");
  command->callback([name] { fmt::print("{}", name->empty() ? kBlockReference : page_of(*name)); });
}

}  // namespace espalier::cli
