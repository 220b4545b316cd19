/// What wiring refuses, to the letter. Lines of this file are cut off, since they change.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::add;
using testing::endless;
using testing::negate;
using testing::numbers;
using testing::refusal_here;

TEST(TypeClash, NamesBothSidesAndTheLine) {
  EXPECT_EQ(refusal_here([] { scalar() >> vector(3); }),
            "vector(3): its input is float[]; an input is expected\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> function(negate).takes(3); }),
            "pipe: the output of scalar() is float[] and the input of function() is float[3]\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> identity().takes("input<Value>"); }),
            "pipe: the output of map() is seq<float[]> and the input of identity() is input<Value>\n  at here");
}

TEST(TypeClash, NamesThePathToTheBlock) {
  EXPECT_EQ(refusal_here([] {
              const Block left = named("left", identity() >> named("score", function(negate).takes(3)));
              const Block tree = named("tree", record({{"inner", left}}));
              tree.takes("(float[2])");
            }),
            "record(\"inner\") \"tree\": item 0 of its input is float[2] and the input of pipe \"left\" is float[3]\n"
            "  in tree\n  at here");
  EXPECT_EQ(refusal_here([] {
              const Block tree = named("tree", record({{"inner", named("left", identity() >> named("all", sum()))}}));
              tree.takes("(float[2])");
            }),
            "sum() \"all\": its input is float[2]; a sequence, a tuple or an input that is a list is expected\n"
            "  in tree / inner / left / all\n  at here");
}

TEST(TypeClash, OfElementsBeforeItIsKnownWhatHoldsThem) {
  EXPECT_EQ(refusal_here([] { map(vector(4)) >> sum() >> function(negate).takes(3); }),
            "pipe: the output of pipe is float[4] and the input of function() is float[3]\n  at here");
  EXPECT_EQ(refusal_here([] { map(vector(4)) >> map(function(negate).takes(3)); }),
            "pipe: the output of map() is ? of float[4] and the input of map() is ? of float[3]\n  at here");
  EXPECT_EQ(refusal_here([] {
              const Block words = identity();
              words >> map(function(negate).takes(4));
              words >> map(function(negate).takes(3));
            }),
            "pipe: the output of identity() is ? of float[4] and the input of map() is ? of float[3]\n  at here");
}

TEST(TypeClash, OfTypesThatAreSet) {
  EXPECT_EQ(refusal_here([] { scalar().gives(3); }),
            "scalar(): its output is float[] and what it is to give is float[3]\n  at here");
  EXPECT_EQ(refusal_here([] { identity().takes(3).gives(2); }),
            "identity(): its output is float[3] and what it is to give is float[2]\n  at here");
}

TEST(TypeClash, OfCppTypes) {
  struct Leaf {
    int x;
  };
  EXPECT_EQ(refusal_here([] { get("tree") >> get(&Leaf::x); }), "nothing was refused");
  EXPECT_EQ(refusal_here([] { identity().takes("input<Value>") >> get(&Leaf::x); }),
            "pipe: the output of identity() is input<Value> and the input of get(member) is input<Leaf>\n  at here");
  EXPECT_EQ(refusal_here([] { get(&Leaf::x) >> vector(2); }),
            "vector(2): its input is input<int>; an input that is a list of numbers is expected\n  at here");
  EXPECT_EQ(refusal_here([] { get(&Leaf::x) >> get("y"); }),
            "get(\"y\"): input<int> has no parts; \"y\" is asked for\n  at here");
  EXPECT_EQ(refusal_here([] { Program::of<Value>(get(&Leaf::x)); }),
            "get(member): its input is input<Leaf> and what it is given is input<Value>\n  at here");
}

TEST(WrongKind, ListsWhatIsExpected) {
  EXPECT_EQ(refusal_here([] { nothing() >> length(); }),
            "length(): its input is void; a sequence, a tuple or an input that is a list is expected\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> get("a"); }),
            "get(\"a\"): its input is float[]; an input is expected\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> get(0); }),
            "get(0): its input is float[]; an input, a tuple or a sequence is expected\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> record({scalar()}); }),
            "record(1 blocks): its input is float[]; an input or a tuple is expected\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> zip(); }),
            "zip(): its input is float[]; a tuple of sequences is expected\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> optional(identity()); }),
            "optional(): its input is seq<float[]>; an input is expected\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> shared(identity()); }),
            "shared(): its input is seq<float[]>; an input is expected\n  at here");
  EXPECT_EQ(refusal_here([] { vector(2) >> loss("l"); }),
            "loss(\"l\"): its input is float[2]; a tensor of one element is expected\n  at here");
  EXPECT_EQ(refusal_here([] { map(map(scalar())).takes("seq<seq<input<Value>>>") >> sum(); }),
            "sum(): an element of its input is seq<float[]>; a tensor is expected\n  at here");
  EXPECT_EQ(
      refusal_here([] {
        numbers() >> one_of(itself(), {{1, identity()}});
      }),
      "one_of(1 cases): its input is seq<float[]>; an input, or a tuple that begins with one is expected\n  at here");
}

TEST(Unknown, TypesAreNamedWhenCompiled) {
  EXPECT_EQ(refusal_here([] { Program(map(scalar()) >> fold(add, zeros())); }).substr(0, 58),
            "pipe: the type of its output is not known: ?\n  made at her");
  EXPECT_EQ(refusal_here([] { static_cast<void>(named("same", identity()).output_type()); }),
            "identity() \"same\": the type of its output is not known: ?\n  in same");
}

TEST(Arity, OfRecordsAndCells) {
  EXPECT_EQ(refusal_here([] {
              record({scalar(), scalar()}) >> record({negate, negate, negate});
            }),
            "record(3 blocks): it has 3 blocks, and its input 2 items: (float[], float[])\n  at here");
  EXPECT_EQ(
      refusal_here([] {
        record({scalar(), scalar(), scalar()}) >> function(add);
      }),
      "pipe: the output of record(3 blocks) is (float[], float[], float[]) and the input of function() is (?, ?)\n"
      "  at here");
  EXPECT_EQ(refusal_here([] { rnn([](Expr x) { return x; }, zeros(3)).takes("seq<float[3]>"); }),
            "function(): its input is (float[3], float[3]); a tensor is expected\n  at here");
  EXPECT_EQ(refusal_here([] { rnn([](Expr x, Expr) { return x; }, zeros(3)).takes("seq<float[3]>"); }),
            "function(): its output is (?, float[3]) and what the function gives is float[3]\n  at here");
  EXPECT_EQ(refusal_here([] {
              Program::of<std::pair<int, int>>(record({scalar(), scalar(), scalar()}));
            }),
            "record(3 blocks): it has 3 blocks, and its input 2 fields: input<std::pair<int, int>>\n  at here");
}

TEST(InfiniteSequence, HasNoEnd) {
  const std::string tail = ": its input is inf<float[]>, which has no end\n  at here";
  EXPECT_EQ(refusal_here([] { endless() >> fold(add, zeros(Shape{})); }), "fold()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> reduce(add); }), "reduce()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> rnn([](Expr x, Expr s) { return std::pair(x, s); }, zeros(Shape{})); }),
            "rnn()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> get(0); }), "get(0)" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> length(); }), "length()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> slice({}); }), "slice({.step = 1})" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> sum(); }), "sum()" + tail);
  EXPECT_EQ(refusal_here([] { all_of({endless(), identity()}) >> nth(); }), "nth()" + tail);
  EXPECT_EQ(refusal_here([] { zeros("inf<float[]>"); }), "zeros(): there are no zeros of inf<float[]>\n  at here");
  EXPECT_EQ(refusal_here([] { zeros("(float[], input<Value>)"); }),
            "zeros(): there are no zeros of input<Value>\n  at here");
  EXPECT_EQ(refusal_here([] { Program(identity().takes("inf<float[]>")); }),
            "identity(): its input is inf<float[]>, which cannot be read from a Value\n  at here");
}

TEST(Concat, RefusesWhatDoesNotFit) {
  const auto of = [](const char* type) { return refusal_here([&] { concat().takes(type); }); };
  EXPECT_EQ(of("(float[2], float[2, 2])"),
            "concat(): tensor 0 is float[2] and tensor 1 is float[2, 2]; they may differ along axis 0 only\n  at here");
  EXPECT_EQ(of("()"), "concat(): there is nothing to concatenate\n  at here");
  EXPECT_EQ(of("(float[2], (float[2]))"),
            "concat(): its input (float[2], (float[2])) has a tuple in it, which takes {.flatten = true}\n  at here");
  EXPECT_EQ(of("(float[2], input<Value>)"),
            "concat(): its input (float[2], input<Value>) has input<Value> in it; tensors are expected\n  at here");
  EXPECT_EQ(of("float[2]"), "concat(): its input is float[2]; a tuple of tensors is expected\n  at here");
  EXPECT_EQ(refusal_here([] { concat({.axis = 1}).takes("(float[2], float[2])"); }),
            "concat(axis 1): there is no axis 1 in float[2]\n  at here");
}

TEST(Composition, RefusesWrongWiring) {
  const std::string tail = "\n  in c\n  at here";
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              const Wire a = c.add(negate);
              const Wire b = c(negate, a);
              a.reads(b);
              c.output().reads(b);
              Block block = c;
            }),
            "composition \"c\": output reads what is made from its own output: a cycle" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c(negate, c.output());
            }),
            "composition \"c\": its output is read" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c.connect(c.add(scalar()), c.input());
            }),
            "composition \"c\": its input is written to" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c(scalar(), c.input()).reads(c.input());
            }),
            "composition \"c\": scalar() is connected twice" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              Composition d("d");
              c(scalar(), d.input());
            }),
            "composition \"c\": a wire of another composition is read" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              Composition d("d");
              c.connect(c.input(), d.output());
            }),
            "composition \"c\": a wire of another composition is connected" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c(scalar(), c.input());
              c.output().reads(c(scalar(), c.input()));
              Program program(c);
            }),
            "composition \"c\": nobody reads scalar(), which gives float[]" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c.output().reads(c.add(negate));
              Program program(c);
            }),
            "composition \"c\": function() reads nothing" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c(scalar() >> nothing(), c.input());
              Program program(c);
            }),
            "composition \"c\": its output reads nothing" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c.name("x", c.input());
              c.name("x", c.input());
            }),
            "composition \"c\": two wires are called \"x\"" + tail);
  EXPECT_EQ(refusal_here([] { Composition("c").wire("x"); }), "composition \"c\": no wire is called \"x\"" + tail);
}

TEST(Forward, RefusesToBeUnresolvedOrTwice) {
  EXPECT_EQ(refusal_here([] { Program(forward("tree")()); }),
            "forward() \"tree\": it was never resolved\n  made at here");
  EXPECT_EQ(refusal_here([] {
              Forward tree = forward("tree");
              tree.resolve_to(scalar());
              tree.resolve_to(scalar());
            }),
            "forward() \"tree\": it is resolved already\n  at here");
  EXPECT_EQ(refusal_here([] {
              Forward tree = forward("tree");
              tree.resolve_to(tree());
            }),
            "forward() \"tree\": it is resolved to itself\n  at here");
}

TEST(Forward, RefusesToBeNothingButOthersInARing) {
  EXPECT_EQ(refusal_here([] {
              Forward a = forward("a");
              Forward b = forward("b");
              a.resolve_to(b());
              b.resolve_to(a());
              Program(a().takes("input<Value>").gives(Shape{}));
            }),
            "forward() \"a\": it is resolved to itself\n  made at here");
}

TEST(Forward, RefusesATypeThatHoldsItself) {
  EXPECT_EQ(refusal_here([] {
              Forward list = forward("list");
              list.resolve_to(map(list()));
              Program program(list());
            }),
            "map(): its output is ? and what is made of it is seq<?>: a type that would hold itself\n"
            "  in list\n  at here");
}

TEST(OneOf, RefusesCasesThatDiffer) {
  EXPECT_EQ(refusal_here([] {
              one_of(key("k"), {{"a", scalar()}, {"b", vector(2)}});
            }),
            "one_of(2 cases): the output of case \"b\" is float[2] and the output of the others is float[]\n  at here");
  EXPECT_EQ(refusal_here([] { one_of(key("k"), std::vector<Case>()); }),
            "one_of: at least one case is expected\n  at here");
  EXPECT_EQ(refusal_here([] {
              one_of(key("k"), {{1, scalar()}, {1, scalar()}});
            }),
            "one_of: case 1 is given twice\n  at here");
}

TEST(Function, RefusesAtTheLineThatWiredIt) {
  Model model;
  const nn::Linear layer(model / "layer", 2, 3);
  EXPECT_EQ(refusal_here([&] { vector(3) >> layer; }),
            "pipe: the output of vector(3) is float[3] and the input of function() is float[2]\n  at here");
  const std::string text = refusal_here([&] { vector(3) >> [layer](Expr x) { return layer(x); }; });
  EXPECT_EQ(text.substr(0, text.find("\n  x:")),
            "function(): it is given float[3], and refuses\naffine: size of x (3) and rows of W (2) differ");
  EXPECT_EQ(text.substr(text.rfind('\n')), "\n  at here");
  EXPECT_EQ(refusal_here([] { map(scalar()).takes("seq<input<Value>>") >> function(negate); }),
            "function(): its input is seq<float[]>; a tensor is expected\n  at here");
  EXPECT_EQ(refusal_here([] {
              numbers() >> [](const std::vector<Expr>& all) {
                return all.size() == 3 ? all[0] : throw std::logic_error("three, please");
              };
            }),
            "function(): it is given seq<float[]>, and throws: three, please\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> [](Expr) { return Expr(); }; }),
            "function(): it is given float[], and refuses\nexpr: this Expr was made by no operation\n  at here");
  EXPECT_EQ(refusal_here([] { vector(2) >> [](int x) { return x; }; }),
            "function(): its input is float[2]; an input that is a whole number is expected\n  at here");
}

TEST(Metric, RefusesTwoTypesOfOneName) {
  EXPECT_EQ(refusal_here([] {
              Program(all_of({scalar() >> metric("m"), all_of({scalar(), identity()}) >> metric("m")}));
            }),
            "metric \"m\": it is float[] in one place and (float[], input<Value>) in another");
  EXPECT_EQ(refusal_here([] {
              all_of({scalar(), scalar()}) >> metric("m");
            }),
            "metric(\"m\"): its input is (float[], float[]); a tensor, or a pair of a tensor and an input is expected\n"
            "  at here");
  EXPECT_EQ(refusal_here([] {
              Program(scalar() >> all_of({loss("l"), loss("l", 2)}));
            }),
            "loss \"l\": its weight is 1 in one place and 2 in another");
}

TEST(Arguments, AreCheckedWhereTheyAreGiven) {
  EXPECT_EQ(refusal_here([] { one_hot(3, 3); }), "one_hot(3, 3): there is no number from 3 to below 3\n  at here");
  EXPECT_EQ(refusal_here([] { one_hot(std::vector<Key>()); }),
            "one_hot(0 elements): at least one element is expected\n  at here");
  EXPECT_EQ(refusal_here([] {
              one_hot({"a", "b", "a"});
            }),
            "one_hot(3 elements): element \"a\" is given twice\n  at here");
  EXPECT_EQ(
      refusal_here([] { one_hot(0, std::int64_t{1} << 40); }),
      "one_hot(0, 1099511627776): at most 2147483647 numbers are expected, and these are 1099511627776\n  at here");
  EXPECT_EQ(refusal_here([] { ngrams(0); }), "ngrams: a size of 1 or more is expected, and 0 is given\n  at here");
  EXPECT_EQ(refusal_here([] { slice({.step = 0}); }), "slice: a step other than 0 is expected\n  at here");
  EXPECT_EQ(refusal_here([] { pad(-1, 0); }),
            "pad: numbers of elements are expected, and -1 and 0 are given\n  at here");
  EXPECT_EQ(refusal_here([] { stack(0); }), "stack: a length of 1 or more is expected, and 0 is given\n  at here");
  EXPECT_EQ(refusal_here([] { conv(0, negate); }), "conv: a width of 1 or more is expected, and 0 is given\n  at here");
  EXPECT_EQ(refusal_here([] { Vocabulary({"a", "a"}); }), "vocabulary: the word \"a\" is given twice");
  EXPECT_EQ(refusal_here([] { from_tensor(Tensor({2}, DType::kInt32)); }),
            "from_tensor: a float32 or float64 tensor is expected, and an int32 one is given\n  at here");
  EXPECT_EQ(refusal_here([] { Program(scalar(), {.watch = {"tree"}}); }),
            "program: no block is called \"tree\"\n  at here");
}

TEST(Program, RefusesOtherInputsAndMissingLosses) {
  const Program program(scalar());
  Graph graph;
  EXPECT_EQ(refusal_here([&] { program.eval(3); }),
            "program: its inputs are of the C++ type Value, and a int is given");
  EXPECT_EQ(refusal_here([&] { program.loss(graph, std::vector<Value>{1}); }),
            "program: a loss is asked for, and the model has no loss() block");
  EXPECT_EQ(refusal_here([&] { program.loss(graph, std::vector<Value>()); }),
            "program: a loss is asked for, and there are no inputs");
  const Program sometimes(map(scalar() >> loss("l")));
  EXPECT_EQ(refusal_here([&] { sometimes.loss(graph, std::vector<Value>{Value::list({})}); }),
            "program: a loss is asked for, and the inputs reach no loss() block");
}

}  // namespace
}  // namespace espalier::blocks
