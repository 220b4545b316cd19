/// What wiring refuses, to the letter. Lines of this file are cut off, since they change.
#include <gmock/gmock.h>
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
            "vector(3): it takes data (input<T>), but is given float[]\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> function(negate).takes(3); }),
            "pipe: scalar() gives float[], but function() takes float[3]\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> identity().takes("input<Value>"); }),
            "pipe: map() gives seq<float[]>, but identity() takes input<Value>\n  at here");
}

TEST(TypeClash, NamesThePathToTheBlock) {
  EXPECT_EQ(refusal_here([] {
              const Block left = named("left", identity() >> named("score", function(negate).takes(3)));
              const Block tree = named("tree", record({{"inner", left}}));
              tree.takes("(float[2])");
            }),
            "record(\"inner\") \"tree\": item 0 of its input is float[2], but pipe \"left\" takes float[3]\n  in tree\n"
            "  at here");
  EXPECT_EQ(refusal_here([] {
              const Block tree = named("tree", record({{"inner", named("left", identity() >> named("all", sum()))}}));
              tree.takes("(float[2])");
            }),
            "sum() \"all\": it takes a sequence, a tuple or data that is a list, but is given float[2]\n  in tree / "
            "inner / left / all\n"
            "  at here");
}

TEST(TypeClash, OfElementsBeforeItIsKnownWhatHoldsThem) {
  EXPECT_EQ(refusal_here([] { map(vector(4)) >> sum() >> function(negate).takes(3); }),
            "pipe: sum() gives float[4], but function() takes float[3]\n  at here");
  EXPECT_EQ(refusal_here([] { map(vector(4)) >> map(function(negate).takes(3)); }),
            "pipe: map() gives a sequence of float[4], but map() takes a sequence of float[3]\n"
            "  vector(4) gives float[4]\n"
            "  function() takes float[3]\n"
            "  at here");
  EXPECT_EQ(refusal_here([] {
              const Block words = identity();
              words >> map(function(negate).takes(4));
              words >> map(function(negate).takes(3));
            }),
            "pipe: identity() gives a sequence of float[4], but map() takes a sequence of float[3]\n"
            "  function() takes float[4]\n"
            "  function() takes float[3]\n"
            "  at here");
}

TEST(TypeClash, NamesTheLayerThatDecidesATypeWithinOthers) {
  Model model(1);
  const nn::Linear classify(model / "classify", 3, 2);
  const nn::LstmCell cell(model / "cell", 3, 2);
  EXPECT_EQ(refusal_here([&] { map(vector(4)) >> map(classify); }),
            "pipe: map() gives a sequence of float[4], but map() takes a sequence of float[3]\n"
            "  vector(4) gives float[4]\n"
            "  Linear(classify.W) takes float[3]\n"
            "  at here");
  EXPECT_THAT(refusal_here([&] { map(vector(4)) >> rnn(cell); }), ::testing::HasSubstr("\n  LstmCell(cell.W) takes "));
}

TEST(TypeClash, NamesTheLayerThatRefusesASequenceAndTheLineOnce) {
  Model model(1);
  const nn::BiLstm read(model / "read", 3, 2);
  EXPECT_EQ(refusal_here([&] { map(vector(4)) >> read; }),
            "BiLstm(read.forward.W): it refuses seq<float[4]>:\n"
            "affine: size of x (4) and rows of W (3) differ\n"
            "  x: float32[4]     node 0 = input()  here\n"
            "  W: float32[3, 8]  parameter \"read.forward.W\"\n"
            "  b: float32[8]     parameter \"read.forward.b\"\n"
            "  at here");
}

TEST(TypeClash, OfTypesThatAreSet) {
  EXPECT_EQ(refusal_here([] { scalar().gives(3); }),
            "scalar(): it gives float[], but gives() says float[3]\n  at here");
  EXPECT_EQ(refusal_here([] { identity().takes(3).gives(2); }),
            "identity(): it gives float[3], but gives() says float[2]\n  at here");
}

TEST(TypeClash, OfCppTypes) {
  struct Leaf {
    int x;
  };
  EXPECT_EQ(refusal_here([] { get("tree") >> get(&Leaf::x); }), "nothing was refused");
  EXPECT_EQ(refusal_here([] { identity().takes("input<Value>") >> get(&Leaf::x); }),
            "pipe: identity() gives input<Value>, but get(member) takes input<Leaf>\n"
            "  hint: a block reads one type of data, in all places where it is used; make another block for the other\n"
            "  at here");
  EXPECT_EQ(refusal_here([] { get(&Leaf::x) >> vector(2); }),
            "vector(2): it takes data that is a list of numbers, but is given input<int>\n  at here");
  EXPECT_EQ(refusal_here([] { get(&Leaf::x) >> get("y"); }),
            "get(\"y\"): cannot take \"y\" of input<int>: it has no parts\n  at here");
  EXPECT_EQ(refusal_here([] { Program::of<Value>(get(&Leaf::x)); }),
            "get(member): it takes input<Leaf>, but the data are input<Value>\n"
            "  hint: a block reads one type of data, in all places where it is used; make another block for the other\n"
            "  at here");
}

TEST(WrongKind, ListsWhatIsExpected) {
  EXPECT_EQ(refusal_here([] { nothing() >> length(); }),
            "length(): it takes a sequence, a tuple or data that is a list, but is given void\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> get("a"); }),
            "get(\"a\"): it takes data (input<T>), but is given float[]\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> get(0); }),
            "get(0): it takes data (input<T>), a tuple or a sequence, but is given float[]\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> record({scalar()}); }),
            "record(1 blocks): it takes data (input<T>) or a tuple, but is given float[]\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> zip(); }),
            "zip(): it takes a tuple of sequences, but is given float[]\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> optional(identity()); }),
            "optional(): it takes data (input<T>), but is given seq<float[]>\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> shared(identity()); }),
            "shared(): it takes data (input<T>), but is given seq<float[]>\n  at here");
  EXPECT_EQ(refusal_here([] { vector(2) >> loss("l"); }),
            "loss(\"l\"): it takes a tensor of one element, but is given float[2]\n  at here");
  EXPECT_EQ(refusal_here([] { map(map(scalar())).takes("seq<seq<input<Value>>>") >> sum(); }),
            "sum(): the elements of its input must be tensors, but are seq<float[]>\n  at here");
  EXPECT_EQ(refusal_here([] {
              numbers() >> one_of(itself(), {{1, identity()}});
            }),
            "one_of(1 cases): it takes data (input<T>), or a tuple that begins with data, but is given seq<float[]>\n"
            "  at here");
}

TEST(Unknown, TypesAreNamedWhenCompiled) {
  EXPECT_EQ(refusal_here([] { Program(map(scalar()) >> fold(add, zeros())); }).substr(0, 64),
            "pipe: the type of its output cannot be worked out; known so far:");
  EXPECT_EQ(refusal_here([] { static_cast<void>(named("same", identity()).output_type()); }),
            "identity() \"same\": its output has type ?, which is not known yet\n  in same");
}

TEST(Arity, OfRecordsAndCells) {
  EXPECT_EQ(refusal_here([] {
              record({scalar(), scalar()}) >> record({negate, negate, negate});
            }),
            "record(3 blocks): it has 3 blocks, but its input has 2 items: (float[], float[])\n  at here");
  EXPECT_EQ(refusal_here([] {
              record({scalar(), scalar(), scalar()}) >> function(add);
            }),
            "pipe: record(3 blocks) gives (float[], float[], float[]), but function() takes (?, ?)\n  at here");
  EXPECT_EQ(refusal_here([] { rnn([](Expr x) { return x; }, zeros(3)).takes("seq<float[3]>"); }),
            "function(): it takes a tensor, but is given (float[3], float[3])\n  at here");
  EXPECT_EQ(refusal_here([] { rnn([](Expr x, Expr) { return x; }, zeros(3)).takes("seq<float[3]>"); }),
            "function(): it gives float[3], but its output must be (?, float[3])\n"
            "  hint: get(i) takes one item of a tuple, concat() joins all, all_of({...}) makes a tuple\n"
            "  at here");
  EXPECT_EQ(refusal_here([] {
              Program::of<std::pair<int, int>>(record({scalar(), scalar(), scalar()}));
            }),
            "record(3 blocks): it has 3 blocks, but its input has 2 fields: input<std::pair<int, int>>\n"
            "  at here");
}

TEST(InfiniteSequence, HasNoEnd) {
  const std::string tail = ": it needs a sequence that ends, but is given inf<float[]>\n  at here";
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
            "identity(): it takes inf<float[]>, which cannot be read from data of type Value\n  at here");
}

TEST(Concat, RefusesWhatDoesNotFit) {
  const auto of = [](const char* type) { return refusal_here([&] { concat().takes(type); }); };
  EXPECT_EQ(of("(float[2], float[2, 2])"),
            "concat(): tensor 0 is float[2] and tensor 1 is float[2, 2]; they may differ along axis 0 only\n  at here");
  EXPECT_EQ(of("()"), "concat(): there is nothing to concatenate\n  at here");
  EXPECT_EQ(of("(float[2], (float[2]))"),
            "concat(): its input (float[2], (float[2])) contains a tuple; concat({.flatten = true}) flattens it\n"
            "  at here");
  EXPECT_EQ(of("(float[2], input<Value>)"),
            "concat(): it takes tensors, but its input (float[2], input<Value>) contains input<Value>\n"
            "  at here");
  EXPECT_EQ(of("float[2]"), "concat(): it takes a tuple of tensors, but is given float[2]\n  at here");
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
            "composition \"c\": output depends on its own output: a cycle" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c(negate, c.output());
            }),
            "composition \"c\": no block can read its output" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c.connect(c.add(scalar()), c.input());
            }),
            "composition \"c\": its input cannot read a wire" + tail);
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
            "composition \"c\": the wire belongs to another composition" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              Composition d("d");
              c.connect(c.input(), d.output());
            }),
            "composition \"c\": the wire belongs to another composition" + tail);
  EXPECT_EQ(
      refusal_here([] {
        Composition c("c");
        c(scalar(), c.input());
        c.output().reads(c(scalar(), c.input()));
        Program program(c);
      }),
      "composition \"c\": no block reads scalar(), which gives float[]; nothing() drops an output that is not needed" +
          tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c.output().reads(c.add(negate));
              Program program(c);
            }),
            "composition \"c\": function() is not connected to anything that it reads" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c(scalar() >> nothing(), c.input());
              Program program(c);
            }),
            "composition \"c\": its output is not connected" + tail);
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              c.name("x", c.input());
              c.name("x", c.input());
            }),
            "composition \"c\": two wires are named \"x\"" + tail);
  EXPECT_EQ(refusal_here([] { Composition("c").wire("x"); }), "composition \"c\": no wire is named \"x\"" + tail);
}

TEST(Forward, RefusesToBeUnresolvedOrTwice) {
  EXPECT_EQ(refusal_here([] { Program(forward("tree")()); }),
            "forward() \"tree\": it was never resolved; call resolve_to()\n  made at here");
  EXPECT_EQ(refusal_here([] {
              Forward tree = forward("tree");
              tree.resolve_to(scalar());
              tree.resolve_to(scalar());
            }),
            "forward() \"tree\": it was resolved before\n  at here");
  EXPECT_EQ(refusal_here([] {
              Forward tree = forward("tree");
              tree.resolve_to(tree());
            }),
            "forward() \"tree\": it is resolved to itself, so it would never end\n  at here");
}

TEST(Forward, RefusesToBeNothingButOthersInARing) {
  EXPECT_EQ(refusal_here([] {
              Forward a = forward("a");
              Forward b = forward("b");
              a.resolve_to(b());
              b.resolve_to(a());
              Program(a().takes("input<Value>").gives(Shape{}));
            }),
            "forward() \"a\": it is resolved to itself, so it would never end\n  made at here");
}

TEST(Forward, RefusesATypeThatHoldsItself) {
  EXPECT_EQ(refusal_here([] {
              Forward list = forward("list");
              list.resolve_to(map(list()));
              Program program(list());
            }),
            "map(): it gives seq<?>, but its output must be ?, a type that would contain itself\n  in list\n"
            "  at here");
}

TEST(OneOf, RefusesCasesThatDiffer) {
  EXPECT_EQ(refusal_here([] {
              one_of(key("k"), {{"a", scalar()}, {"b", vector(2)}});
            }),
            "one_of(2 cases): case \"b\" gives float[2], but the output must be float[]\n  at here");
  EXPECT_EQ(refusal_here([] { one_of(key("k"), std::vector<Case>()); }),
            "one_of: it needs at least one case\n  at here");
  EXPECT_EQ(refusal_here([] {
              one_of(key("k"), {{1, scalar()}, {1, scalar()}});
            }),
            "one_of: case 1 is given twice\n  at here");
}

TEST(Function, RefusesAtTheLineThatWiredIt) {
  Model model;
  const nn::Linear layer(model / "layer", 2, 3);
  EXPECT_EQ(refusal_here([&] { vector(3) >> layer; }),
            "pipe: vector(3) gives float[3], but Linear(layer.W) takes float[2]\n  at here");
  const std::string text = refusal_here([&] { vector(3) >> [layer](Expr x) { return layer(x); }; });
  EXPECT_EQ(text.substr(0, text.find("\n  x:")),
            "function(): it refuses float[3]:\naffine: size of x (3) and rows of W (2) differ");
  EXPECT_EQ(text.substr(text.rfind('\n')), "\n  at here");
  EXPECT_EQ(refusal_here([] { map(scalar()).takes("seq<input<Value>>") >> function(negate); }),
            "function(): it takes a tensor, but is given seq<float[]>\n  at here");
  EXPECT_EQ(refusal_here([] {
              numbers() >> [](const std::vector<Expr>& all) {
                return all.size() == 3 ? all[0] : throw std::logic_error("three, please");
              };
            }),
            "function(): it throws when it is given seq<float[]>: three, please\n  at here");
  EXPECT_EQ(refusal_here([] { scalar() >> [](Expr) { return Expr(); }; }),
            "function(): it refuses float[]:\nexpr: this Expr was made by no operation\n  at here");
  EXPECT_EQ(refusal_here([] { vector(2) >> [](int x) { return x; }; }),
            "function(): it takes data that is a whole number, but is given float[2]\n  at here");
}

TEST(Metric, RefusesTwoTypesOfOneName) {
  EXPECT_EQ(refusal_here([] {
              Program(all_of({scalar() >> metric("m"), all_of({scalar(), identity()}) >> metric("m")}));
            }),
            "metric \"m\": its type is float[] in one place and (float[], input<Value>) in another");
  EXPECT_EQ(refusal_here([] {
              all_of({scalar(), scalar()}) >> metric("m");
            }),
            "metric(\"m\"): it takes a tensor, or the pair (tensor, label), but is given (float[], float[])\n"
            "  at here");
  EXPECT_EQ(refusal_here([] {
              Program(scalar() >> all_of({loss("l"), loss("l", 2)}));
            }),
            "loss \"l\": its weight is 1 in one place and 2 in another");
}

TEST(Arguments, AreCheckedWhereTheyAreGiven) {
  EXPECT_EQ(refusal_here([] { one_hot(3, 3); }), "one_hot(3, 3): the range from 3 to below 3 is empty\n  at here");
  EXPECT_EQ(refusal_here([] { one_hot(std::vector<Key>()); }),
            "one_hot(0 elements): it needs at least one element\n  at here");
  EXPECT_EQ(refusal_here([] {
              one_hot({"a", "b", "a"});
            }),
            "one_hot(3 elements): element \"a\" is given twice\n  at here");
  EXPECT_EQ(refusal_here([] { one_hot(0, std::int64_t{1} << 40); }),
            "one_hot(0, 1099511627776): it has 1099511627776 elements; at most 2147483647 are supported\n"
            "  at here");
  EXPECT_EQ(refusal_here([] { ngrams(0); }), "ngrams: the size must be at least 1, but is 0\n  at here");
  EXPECT_EQ(refusal_here([] { slice({.step = 0}); }), "slice: the step must not be 0\n  at here");
  EXPECT_EQ(refusal_here([] { pad(-1, 0); }),
            "pad: the numbers of elements must not be negative, but are -1 and 0\n  at here");
  EXPECT_EQ(refusal_here([] { stack(0); }), "stack: the length must be at least 1, but is 0\n  at here");
  EXPECT_EQ(refusal_here([] { conv(0, negate); }), "conv: the width must be at least 1, but is 0\n  at here");
  EXPECT_EQ(refusal_here([] { Vocabulary({"a", "a"}); }), "vocabulary: the word \"a\" is given twice");
  EXPECT_EQ(refusal_here([] { from_tensor(Tensor({2}, DType::kInt32)); }),
            "from_tensor: expected a float32 or float64 tensor, but got an int32 one\n  at here");
  EXPECT_EQ(refusal_here([] { Program(scalar(), {.watch = {"tree"}}); }),
            "program: no block is named \"tree\"\n  at here");
}

TEST(Program, RefusesOtherInputsAndMissingLosses) {
  const Program program(scalar());
  Graph graph;
  EXPECT_EQ(refusal_here([&] { program.eval(3); }),
            "program: it was compiled for data of type Value, but is given int\n"
            "  hint: Program::of<T>(block) compiles a block for data of type T");
  EXPECT_EQ(refusal_here([&] { program.loss(graph, std::vector<Value>{1}); }),
            "program: cannot compute a loss: the model has no loss() block");
  EXPECT_EQ(refusal_here([&] { program.loss(graph, std::vector<Value>()); }),
            "program: cannot compute a loss: there are no inputs");
  const Program sometimes(map(scalar() >> loss("l")));
  EXPECT_EQ(refusal_here([&] { sometimes.loss(graph, std::vector<Value>{Value::list({})}); }),
            "program: cannot compute a loss: the inputs reach no loss() block");
}

}  // namespace
}  // namespace espalier::blocks
