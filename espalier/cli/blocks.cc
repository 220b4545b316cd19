#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/nearest.h"
#include "espalier/cli/block_reference.h"
#include "espalier/cli/commands.h"

namespace espalier::cli {
namespace {

/// The names of the blocks, in the order of the reference.
std::vector<std::string_view> block_names() {
  constexpr std::string_view kHeading = "\n## ";
  std::vector<std::string_view> names;
  for (std::size_t at = kBlockReference.find(kHeading); at != std::string_view::npos;
       at = kBlockReference.find(kHeading, at)) {
    at += kHeading.size();
    names.push_back(kBlockReference.substr(at, kBlockReference.find('\n', at) - at));
  }
  return names;
}

/// The part of the reference from a block's heading to the next. Refuses (UsageError) a name that has none.
std::string_view page_of(std::string_view name) {
  const std::string heading = fmt::format("\n## {}\n", name);
  const std::size_t begin = kBlockReference.find(heading);
  if (begin == std::string_view::npos)
    throw UsageError(fmt::format("there is no block \"{}\"{} (`espalier blocks` prints all of them)", name,
                                 suggestion(name, block_names())));
  const std::size_t end = kBlockReference.find("\n## ", begin + heading.size());
  return kBlockReference.substr(begin + 1, end == std::string_view::npos ? end : end - begin);
}

/// A page for each block in a file of its own, and README.md that leads to them.
void write_pages(const std::filesystem::path& folder) {
  ensure_writable_folder(folder);
  std::string index(kBlockReference.substr(0, kBlockReference.find("\n## ")));
  index += '\n';
  for (const std::string_view name : block_names()) {
    const std::string file = fmt::format("{}.md", name == ">>" ? "pipe" : name);
    const std::string_view page = page_of(name);
    write_file_atomically(folder / file, page.substr(1));  // its heading is the first of the page
    const std::size_t summary = page.find("\n\n") + 2;
    index += fmt::format("- [{}]({}): {}\n", name, file, page.substr(summary, page.find('\n', summary) - summary));
  }
  write_file_atomically(folder / "README.md", index);
}

}  // namespace

void add_blocks(CLI::App& app) {
  CLI::App* command = app.add_subcommand("blocks", "Print the reference of all blocks, or of one, as Markdown");
  auto name = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  CLI::Option* one = command->add_option("NAME", *name, "The block");
  command->add_option("--pages", *folder, "Write a page for each block into this folder instead")->excludes(one);
  command->callback([name, folder] {
    if (!folder->empty())
      write_pages(*folder);
    else
      fmt::print("{}", name->empty() ? kBlockReference : page_of(*name));
  });
}

}  // namespace espalier::cli
