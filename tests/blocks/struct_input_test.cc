/// Data of any C++ type, read where they lie.
#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::add;

enum class Kind { kLeaf, kNode };

struct Tree {
  Kind kind = Kind::kLeaf;
  double x = 0;
  std::unique_ptr<Tree> left, right;
};

}  // namespace

template <>
struct Fields<Tree> {
  static constexpr std::tuple kList{field("kind", &Tree::kind), field("x", &Tree::x), field("left", &Tree::left),
                                    field("right", &Tree::right)};
};

namespace {

/// One model for Values and for structs.
Block sum_of_structs() {
  Forward tree = forward("tree");
  tree.resolve_to(one_of(key("kind"), {{Kind::kLeaf, get("x") >> scalar()},
                                       {Kind::kNode, record({{"left", tree()}, {"right", tree()}}) >> function(add)}}));
  return tree();
}

std::unique_ptr<Tree> leaf_struct(double x) { return std::make_unique<Tree>(Tree{Kind::kLeaf, x, nullptr, nullptr}); }
std::unique_ptr<Tree> node_struct(std::unique_ptr<Tree> left, std::unique_ptr<Tree> right) {
  return std::make_unique<Tree>(Tree{Kind::kNode, 0, std::move(left), std::move(right)});
}

TEST(StructInput, WorksAsAValueDoes) {
  const auto value_leaf = [](double x) { return Value::map({{"kind", 0}, {"x", x}}); };
  const Value value = Value::map({{"kind", 1}, {"left", value_leaf(1.5)}, {"right", value_leaf(2)}});
  const std::unique_ptr<Tree> tree = node_struct(leaf_struct(1.5), leaf_struct(2));
  EXPECT_EQ(eval(sum_of_structs(), value).leaf(), eval(sum_of_structs(), tree).leaf());
}

TEST(StructInput, ReadsMembersWithoutCopying) {
  struct Sentence {
    std::vector<std::string> words;
  };
  const Sentence sentence{{"a", "b"}};
  const Result result = eval(get(&Sentence::words) >> map(identity()), sentence);
  EXPECT_EQ(&result[1].input<std::string>(), &sentence.words[1]);
}

TEST(StructInput, ReadsTuplesListsOptionalsAndReferences) {
  using Row = std::tuple<int, std::list<double>, std::optional<int>, std::reference_wrapper<const double>>;
  const double outside = 7;
  const Row row{3, {1, 2}, std::nullopt, outside};
  const Block block = record({scalar(), map(scalar()) >> sum(), optional(scalar()), scalar()});
  EXPECT_EQ(to_value(eval(block, row)).to_text(), "[3.0,3.0,0.0,7.0]");
}

TEST(StructInput, KeepsWhatFunctionsReturn) {
  struct Text {
    std::string all;
    std::vector<std::string> letters() const {
      std::vector<std::string> result;
      for (const char c : all) result.emplace_back(40, c);  // too long to lie inside the string
      return result;
    }
  };
  const Result result = eval(get(&Text::letters) >> map(identity()), Text{"xy"});
  EXPECT_EQ(result[1].input<std::string>(), std::string(40, 'y'));
}

TEST(StructInput, ChoosesByEnumerationsAndMembers) {
  struct Shape2 {
    Kind kind;
    double x;
  };
  const Block block =
      one_of(key(&Shape2::kind), {{Kind::kNode, zeros(Shape{})}, {Kind::kLeaf, get(&Shape2::x) >> scalar()}});
  const Program program(block);
  EXPECT_EQ(program.eval(Shape2{Kind::kLeaf, 4}).item(), 4);
  EXPECT_EQ(program.eval(Shape2{Kind::kNode, 4}).item(), 0);
}

TEST(StructInput, NullIsRefusedWhereItIsRead) {
  const auto text = testing::refusal_of([] { eval(sum_of_structs(), node_struct(leaf_struct(1), nullptr)); });
  EXPECT_EQ(text, "get(\"kind\"): cannot take \"kind\": the input is null\n  in tree\n  in instance 0");
}

TEST(StructInput, RefusesFieldsThatAreNotThere) {
  const auto text = testing::refusal_of([] { Program::of<Tree>(get("lef")); });
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "get(\"lef\"): input<Tree> has no field \"lef\"; it has kind, x, left, right");
}

}  // namespace
}  // namespace espalier::blocks
