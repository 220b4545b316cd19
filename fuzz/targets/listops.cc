/// ListOps files.
#include "espalier/data/listops.h"

#include "fuzz/input.h"

namespace espalier::fuzz {

void listops(std::string_view input) {
  const MemoryFile file(input);
  std::vector<data::Tree> trees;
  accepts([&] {
    data::ListOpsReader reader(file.path());
    while (std::optional<data::Tree> tree = reader.next()) trees.push_back(std::move(*tree));
  });
  if (trees.empty()) return;
  std::string text;
  for (const data::Tree& tree : trees) {
    check(data::evaluate_listops(tree) == tree.label(), "the label is the value");
    text += std::to_string(tree.label()) + "\t" + data::listops_text(tree) + "\n";
  }
  check(data::read_listops(MemoryFile(text).path()) == trees, "expressions that were written read back the same");
}

}  // namespace espalier::fuzz
