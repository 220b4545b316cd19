/// A page that shows what ran together in a minibatch of small trees, and a timeline of the run.
#include <espalier/espalier.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace esp = espalier;

namespace {

struct Tree {
  int word;                 // of a leaf
  std::vector<Tree> parts;  // none, or two
};

std::string text_of(const Tree& tree) {
  if (tree.parts.empty()) return "w" + std::to_string(tree.word);
  return "(" + text_of(tree.parts[0]) + " " + text_of(tree.parts[1]) + ")";
}

}  // namespace

int main() {
  const Tree a{0, {}}, b{1, {}}, c{2, {}};
  const std::vector<Tree> trees{{-1, {a, b}}, {-1, {a, {-1, {b, c}}}}, {-1, {{-1, {a, c}}, {-1, {b, c}}}}};

  esp::Model model;
  const esp::nn::Embedding words(model / "words", 3, 8);
  const esp::nn::BinaryTreeLstm cell(model / "cell", 8, 8);
  const esp::nn::Linear classify(model / "classify", 8, 2);
  const auto encode = [&](const auto& self, esp::Graph& g, const Tree& t) -> esp::nn::TreeState {
    if (t.parts.empty()) return cell.leaf(words(g, t.word));
    return cell(self(self, g, t.parts[0]), self(self, g, t.parts[1]));
  };

  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "espalier_batches_page";
  std::filesystem::create_directories(folder);
  esp::Trace trace;  // from here on, graphs are timed
  esp::Graph g;
  std::vector<esp::Expr> losses;
  for (const Tree& tree : trees) {
    g.begin_instance();
    losses.push_back(esp::cross_entropy(classify(encode(encode, g, tree).h), 1));
  }
  esp::mean(losses).backward();

  esp::write_page(g, folder / "batches.html", {.text = [&](int i) { return text_of(trees[i]); }, .trace = &trace});
  esp::write_trace(trace, folder / "run.json");
  const bool is_written = std::filesystem::file_size(folder / "batches.html") > 10'000;
  std::filesystem::remove_all(folder);
  return is_written ? 0 : 1;
}
