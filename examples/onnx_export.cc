/// A network over trees as an ONNX file, and the inputs that evaluate it on trees of other shapes.
#include <espalier/espalier.h>
#include <espalier/onnx/onnx.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace esp = espalier;

namespace {

struct Tree {
  std::int32_t word = 0;
  std::vector<Tree> children{};  // none or two
};

struct Net {
  esp::Model model;
  esp::nn::Embedding words{model / "words", 100, 8};
  esp::nn::BinaryTreeLstm cell{model / "cell", 8, 12};
  esp::nn::Linear classify{model / "classify", 12, 3};

  esp::nn::TreeState encode(esp::Graph& g, const Tree& tree) const {
    if (tree.children.empty()) return cell.leaf(words(g, tree.word));
    return cell(encode(g, tree.children[0]), encode(g, tree.children[1]));
  }
  esp::Expr scores(esp::Graph& g, const Tree& tree) const { return classify(encode(g, tree).h); }
};

}  // namespace

int main() {
  const Net net;
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "espalier_example.onnx";

  // One tree that has a leaf and an inner node is sample enough.
  esp::Graph samples({.training = false});
  const Tree sample{.children = {{.word = 1}, {.word = 2}}};
  esp::onnx::write(path, {"scores"}, std::vector<esp::onnx::Instance>{{net.scores(samples, sample)}});

  // Later, for trees of any shape. Nothing is computed here.
  const esp::onnx::Weaver weaver(path);
  esp::Graph g({.training = false});
  const Tree small{.word = 7};
  const Tree large{.children = {{.children = {{.word = 3}, {.word = 4}}}, sample}};
  const std::vector<esp::onnx::Instance> instances{{net.scores(g, small)}, {net.scores(g, large)}};
  for (const esp::onnx::Call& call : weaver.weave(instances))
    for (const esp::onnx::Feed& feed : call.feeds)
      std::printf("%s: %zu numbers\n", feed.name.c_str(), feed.integers.size() + feed.numbers.size());
  std::filesystem::remove(path);
}
