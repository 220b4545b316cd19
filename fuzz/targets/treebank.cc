/// Labelled trees in brackets.
#include "espalier/data/treebank.h"

#include "fuzz/reader.h"

namespace espalier::fuzz {

void treebank(std::string_view input) {
  using data::TreebankOptions;
  for (const TreebankOptions& options :
       {TreebankOptions{}, TreebankOptions{.labels = 5}, TreebankOptions{.binary = true}})
    for (const data::LabelledTree& one : read_text<data::TreebankReader>(input, options)) {
      check(one.words.size() == static_cast<std::size_t>(one.tree.leaf_count()), "every leaf has a word");
      check(one.labels.size() == static_cast<std::size_t>(one.tree.size()), "every node has a label");
      for (std::int32_t node = 0; node < one.tree.size(); ++node) {
        check(options.labels == 0 || (one.tree.label(node) >= 0 && one.tree.label(node) < 5), "labels are in range");
        check(!options.binary || one.tree.is_leaf(node) || one.tree.children(node).size() == 2, "trees are binary");
      }
    }
}

}  // namespace espalier::fuzz
