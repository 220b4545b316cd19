/// Dependency trees: those of the English Web Treebank, or trees with its statistics.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bench/data/english.h"
#include "bench/data/sets.h"
#include "espalier/data/conllu.h"
#include "espalier/data/vocabulary.h"
#include "espalier/models/dependency_trees.h"

namespace espalier::bench {
namespace {

DependencyTree tree_of(const data::ConlluSentence& sentence, data::WordCounts& words, data::WordCounts& relations) {
  std::vector<std::int32_t> heads;
  std::vector<std::int32_t> numbers;
  std::vector<std::int32_t> labels;
  for (const data::ConlluWord& word : sentence.words) {
    heads.push_back(word.head);
    numbers.push_back(words.add(word.form));
    labels.push_back(relations.add(word.deprel));
  }
  DependencyTree tree = models::dependency_tree(heads);
  for (DependencyTree::Node& node : tree.nodes) {
    const auto place = static_cast<std::size_t>(node.word);
    node.word = numbers[place];
    node.label = labels[place];
  }
  return tree;
}

DataSet<DependencyTree> read_dependencies(const std::filesystem::path& path) {
  DataSet<DependencyTree> set{.real = true};
  data::WordCounts words;
  data::WordCounts relations;
  data::ConlluReader reader(path);
  for (data::ConlluSentence sentence; reader.next(sentence);)
    set.instances.push_back(tree_of(sentence, words, relations));
  set.words = words.size();
  set.labels = relations.size();
  return set;
}

// 51 relations, and trees of 4.5 levels on average in which 65 % of the nodes are leaves. A node with d nodes below it
// has about 1.0 + 1.3 log(d) children (deviation 0.5 log(d), at most d), and most of the d are below one of them.
constexpr std::int32_t kRelations = 51;
constexpr double kEvenness = 0.11;

std::int32_t draw_children(Random& random, std::int32_t below) {
  const double scale = std::log(below);
  const long children = std::lround(1.0 + 1.3 * scale + 0.5 * scale * random.normal());
  return static_cast<std::int32_t>(std::clamp(children, 1L, std::min<long>(below, 18)));
}

/// How many nodes are below each child: the more there are already, the likelier is one more (Polya's urn).
std::vector<std::int32_t> divide(Random& random, std::int32_t nodes, std::int32_t children) {
  std::vector<std::int32_t> parts(static_cast<std::size_t>(children), 0);
  for (std::int32_t n = 0; n < nodes; ++n) {
    double place = random.uniform() * (n + kEvenness * children);
    std::size_t child = 0;
    while (child + 1 < parts.size() && (place -= parts[child] + kEvenness) >= 0) ++child;
    ++parts[child];
  }
  return parts;
}

DependencyTree make_dependencies(Random& random, const Shares& words, const Shares& relations) {
  std::vector<std::int32_t> below{draw_count(random, english::kLengths) - 1};  // by place from the root down
  DependencyTree tree;
  tree.nodes.resize(static_cast<std::size_t>(below[0]) + 1);
  const auto node_at = [&](std::size_t place) { return static_cast<std::int32_t>(tree.nodes.size() - 1 - place); };
  for (std::size_t place = 0; place < below.size(); ++place) {
    DependencyTree::Node& node = tree.nodes[static_cast<std::size_t>(node_at(place))];
    node.word = words.draw(random);
    node.label = relations.draw(random);
    if (below[place] == 0) continue;
    const std::int32_t children = draw_children(random, below[place]);
    for (const std::int32_t part : divide(random, below[place] - children, children)) {
      node.children.push_back(node_at(below.size()));
      below.push_back(part);
    }
  }
  return tree;
}

}  // namespace

DataSet<DependencyTree> dependency_trees(const std::filesystem::path& folder, const Generate& generate) {
  if (!folder.empty()) return read_dependencies(english::file_in(folder));
  const Shares words = english::word_shares();
  const Shares relations = zipf(kRelations, 2, 1.2);
  DataSet<DependencyTree> set{.words = words.size(), .labels = relations.size()};
  set.instances.resize(static_cast<std::size_t>(generate.count > 0 ? generate.count : english::kSentences));
  Random random(generate.seed);
  for (DependencyTree& tree : set.instances) tree = make_dependencies(random, words, relations);
  return set;
}

}  // namespace espalier::bench
