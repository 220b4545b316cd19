/// What else wiring refuses, class by class, to the letter: with wiring_errors_test.cc and data_errors_test.cc, every
/// kind of mistake that can be made with blocks.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "tests/blocks/small_functions.h"
#include "tests/blocks/three_ways.h"

namespace espalier::blocks {
namespace {

using testing::add;
using testing::endless;
using testing::negate;
using testing::numbers;
using testing::refusal_here;
using testing::refusal_of;

const auto keep = [](Expr x, Expr s) { return std::pair(x, s); };
const auto as_vector = [](Expr a, Expr b) { return reshape(a + b, {1}); };

TEST(TypeClash, OfABlockInTwoPlaces) {
  EXPECT_EQ(refusal_here([] {
              const Block same = identity();
              all_of({scalar() >> same, vector(2) >> same});
            }),
            "pipe: the output of vector(2) is float[2] and the input of identity() is float[]\n  at here");
}

TEST(TypeClash, OfStatesElementsAndDefaults) {
  EXPECT_EQ(refusal_here([] { numbers() >> reduce(as_vector); }),
            "function(): its output is float[] and what the function gives is float[1]\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> fold(as_vector, zeros(Shape{})); }),
            "function(): its output is float[] and what the function gives is float[1]\n  at here");
  EXPECT_EQ(refusal_here([] { optional(scalar(), zeros(3)); }),
            "optional(): its output is float[] and what it gives for null is float[3]\n  at here");
  EXPECT_EQ(refusal_here([] {
              all_of({scalar() >> identity(), function(negate).takes(2)});
            }),
            "scalar(): its input is float[2]; an input is expected\n  at here");
}

TEST(WrongKind, OfSequencesItemsAndNumbers) {
  EXPECT_EQ(refusal_here([] {
              all_of({scalar(), scalar()}) >> zip();
            }),
            "zip(): its input is float[]; a sequence, a tuple or an input that is a list is expected\n  at here");
  EXPECT_EQ(refusal_here([] {
              all_of({numbers(), numbers() >> sum()}) >> nth();
            }),
            "nth(): item 1 of its input is float[]; an input that is a whole number is expected\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> nth(); }),
            "pipe: the output of map() is seq<float[]> and the input of nth() is (?, ?)\n  at here");
  EXPECT_EQ(refusal_here([] { all_of({scalar()}) >> get(1); }),
            "get(1): item 1 is asked for, and its input has 1 items\n  at here");
  EXPECT_EQ(refusal_here([] { nothing() >> sum(); }),
            "sum(): its input is void; a sequence, a tuple or an input that is a list is expected\n  at here");
  EXPECT_EQ(
      refusal_here([] { identity().takes("seq<float[1, 1, 1, 1]>") >> stack(2); }),
      "stack(2): an element of its input is float[1, 1, 1, 1]; a tensor of at most 3 axes is expected\n  at here");
  EXPECT_EQ(refusal_here([] { identity().takes("seq<input<Value>>") >> pad(1, 0); }),
            "pad(1, 0): there are no zeros of input<Value>\n  at here");
  EXPECT_EQ(refusal_here([] {
              one_of(key([](double x) { return x; }), {{1, scalar()}}).takes("input<Value>");
            }),
            "one_of(1 cases): its key is input<double>; a whole number or a text is expected\n  at here");
}

TEST(Unknown, TypesInsideAModel) {
  EXPECT_EQ(refusal_here([] { Program(named("sums", map(scalar()) >> fold(add, zeros()))); }),
            "pipe \"sums\": the type of its output is not known: ?\n  in sums\n  made at here\n  at here");
  EXPECT_EQ(refusal_here([] {
              Forward loop = forward("loop");
              loop.resolve_to(one_of(itself(), {{0, identity() >> loop()}, {1, loop()}}));
              const Program program(loop());
            }),
            "forward() \"loop\": the type of its output is not known: ?\n  in loop\n  made at here\n  at here");
}

TEST(Arity, OfWires) {
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              const Wire x = c(scalar(), c.input());
              c(add, {x, x, x});
            }),
            "composition \"c\": what is read is (float[], float[], float[]) and the input of function() is (?, ?)\n"
            "  in c\n  at here");
}

TEST(InfiniteSequence, HasNoEndElsewhereEither) {
  const std::string tail = ": its input is inf<float[]>, which has no end\n  at here";
  EXPECT_EQ(refusal_here([] { all_of({endless(), scalar()}) >> rnn_from(keep); }), "rnn_from()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> min(); }), "min()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> max(); }), "max()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> mean(); }), "mean()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> stack(3); }), "stack(3)" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> pad(1, 1); }), "pad(1, 1)" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> child_sum(); }), "sum()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> metric("m"); }),
            "metric(\"m\"): its input is inf<float[]>; a tensor, or a pair of a tensor and an input is expected\n"
            "  at here");
  EXPECT_EQ(refusal_here([] { endless() >> [](const std::vector<Expr>& all) { return all[0]; }; }),
            "pipe: the output of pipe is inf<float[]> and the input of function() is seq<?>\n  at here");
}

TEST(Concat, RefusesTooFewAxes) {
  EXPECT_EQ(refusal_here([] { concat({.axis = -2}).takes("(float[2], float[2])"); }),
            "concat(axis -2): there is no axis -2 in float[2]\n  at here");
  EXPECT_EQ(refusal_here([] { concat({.axis = 1}).takes("(float[], float[])"); }),
            "concat(axis 1): there is no axis 1 in float[1]\n  at here");
}

TEST(Composition, RefusesParts) {
  const auto of = [](const auto& part) {
    return refusal_here([&] {
      Composition c("c");
      part(c(record({{"a", scalar()}}), c.input()));
    });
  };
  EXPECT_EQ(of([](const Wire& wire) { wire["b"]; }),
            "composition \"c\": record(\"a\") has no field \"b\"\n  in c\n  at here");
  EXPECT_EQ(of([](const Wire& wire) { wire[1]; }),
            "get(1): item 1 is asked for, and its input has 1 items\n  in c\n  at here");
  EXPECT_EQ(of([](const Wire& wire) { wire["a"]["b"]; }),
            "get(\"b\"): its input is float[]; an input is expected\n  in c\n  at here");
}

TEST(Composition, RefusesACycleOfOneAndTwoOutputs) {
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              const Wire a = c.add(negate);
              a.reads(a);
              c.output().reads(a);
              Block block = c;
            }),
            "composition \"c\": output reads what is made from its own output: a cycle\n  in c\n  at here");
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              const Wire x = c(scalar(), c.input());
              c.output().reads(x);
              c.output().reads(x);
            }),
            "composition \"c\": output is connected twice\n  in c\n  at here");
}

TEST(Nothing, IsGivenToStartsAndDefaults) {
  const auto reads = [] { return scalar().takes("input<Value>"); };
  EXPECT_EQ(refusal_here([&] { numbers() >> fold(add, reads()); }),
            "fold(): the input of its start is input<Value> and what that is given is void\n  at here");
  EXPECT_EQ(refusal_here([&] { numbers() >> rnn(keep, reads()); }),
            "rnn(): the input of its first state is input<Value> and what that is given is void\n  at here");
  EXPECT_EQ(refusal_here([&] { numbers() >> reduce(add, reads()); }),
            "reduce(): the input of what it does without elements is input<Value> and what that is given is void\n"
            "  at here");
  EXPECT_EQ(refusal_here([&] { optional(scalar(), reads()); }),
            "optional(): the input of what it does for null is input<Value> and what that is given is void\n  at here");
  // What does not look at its input may stand where there is one, too.
  const Block one = from_tensor(Tensor(Shape{}, {1}));
  const Block both = all_of({map(scalar()) >> fold(add, one), length() >> one});
  testing::expect_three_ways(both, {{Value::list({2}), Value::list({3, 1})}});
}

TEST(Names, AreNotEmpty) {
  EXPECT_EQ(refusal_here([] { get(""); }), "get: a name is expected, and an empty one is given\n  at here");
  EXPECT_EQ(refusal_here([] {
              record({{"", scalar()}});
            }),
            "record: names of fields are expected, and an empty one is given\n  at here");
}

TEST(Collecting, RefusesTwoTypesOfOneName) {
  EXPECT_EQ(refusal_here([] {
              Program(all_of({scalar() >> tap("t"), vector(1) >> tap("t")}));
            }),
            "tap \"t\": it is float[] in one place and float[1] in another");
  EXPECT_EQ(refusal_here([] { numbers() >> metric("m"); }),
            "metric(\"m\"): its input is seq<float[]>; a tensor, or a pair of a tensor and an input is expected\n"
            "  at here");
}

TEST(Layers, RefuseOtherInputs) {
  Model model;
  const nn::Linear layer(model / "layer", 2, 2);
  const nn::Embedding table(model / "table", 3, 2);
  EXPECT_EQ(refusal_here([&] { scalar() >> layer; }),
            "pipe: the output of scalar() is float[] and the input of function() is float[2]\n  at here");
  EXPECT_EQ(refusal_here([&] { vector(2) >> embedding(table); }),
            "embedding(3 x 2): its input is float[2]; an input that is a whole number is expected\n  at here");
  EXPECT_EQ(refusal_of([&] { eval(embedding(table), Value(1.5)); }),
            "embedding(3 x 2): a whole number is expected, and 1.5 is given\n  in instance 0");
}

TEST(Results, AreAskedForAsTheyAre) {
  const Result tuple = eval(all_of({scalar()}), Value(1));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(tuple.leaf()); }), "output: it is (float[]); a tensor is expected");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(tuple[1]); }),
            "output: it is (float[]); an item at that place is expected");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(tuple[0].as<std::vector<Tensor>>()); }),
            "output: it is float[]; a sequence is expected");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(eval(identity(), Value(1)).input<int>()); }),
            "output: it is input<Value>; an input of the C++ type asked for is expected");
}

TEST(Types, AreReadFromTexts) {
  EXPECT_EQ(refusal_of([] { scalar().takes("seq<float[3>"); }),
            "type: expected \"]\" at position 11 of \"seq<float[3>\"");
}

}  // namespace
}  // namespace espalier::blocks
