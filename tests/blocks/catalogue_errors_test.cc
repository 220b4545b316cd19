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
            "pipe: vector(2) gives float[2], but identity() takes float[]\n  at here");
}

TEST(TypeClash, OfStatesElementsAndDefaults) {
  EXPECT_EQ(refusal_here([] { numbers() >> reduce(as_vector); }),
            "function(): it gives float[1], but its output must be float[]\n  at here");
  EXPECT_EQ(refusal_here([] { numbers() >> fold(as_vector, zeros(Shape{})); }),
            "function(): it gives float[1], but its output must be float[]\n  at here");
  EXPECT_EQ(refusal_here([] { optional(scalar(), zeros(3)); }),
            "optional(): for null it gives float[3], but otherwise float[]\n  at here");
  EXPECT_EQ(refusal_here([] {
              all_of({scalar() >> identity(), function(negate).takes(2)});
            }),
            "scalar(): it takes data (input<T>), but is given float[2]\n  at here");
}

TEST(WrongKind, OfSequencesItemsAndNumbers) {
  EXPECT_EQ(refusal_here([] {
              all_of({scalar(), scalar()}) >> zip();
            }),
            "zip(): it takes a sequence, a tuple or data that is a list, but is given float[]\n  at here");
  EXPECT_EQ(refusal_here([] {
              all_of({numbers(), numbers() >> sum()}) >> nth();
            }),
            "nth(): item 1 of its input must be a whole number in the data, but is float[]\n  at here");
  EXPECT_EQ(
      refusal_here([] { numbers() >> nth(); }),
      "pipe: map() gives seq<float[]>, but nth() takes (?, ?)\n"
      "  hint: all_of({...}) makes a tuple; rnn(cell), fold(block, start) and reduce(block) run a block of two inputs "
      "along a sequence\n"
      "  at here");
  EXPECT_EQ(refusal_here([] { all_of({scalar()}) >> get(1); }), "get(1): there is no item 1 in (float[])\n  at here");
  EXPECT_EQ(refusal_here([] { nothing() >> sum(); }),
            "sum(): it takes a sequence, a tuple or data that is a list, but is given void\n  at here");
  EXPECT_EQ(refusal_here([] { identity().takes("seq<float[1, 1, 1, 1]>") >> stack(2); }),
            "stack(2): the elements of its input must be tensors of at most 3 axes, but are float[1, 1, 1, 1]\n"
            "  at here");
  EXPECT_EQ(refusal_here([] { identity().takes("seq<input<Value>>") >> pad(1, 0); }),
            "pad(1, 0): there are no zeros of input<Value>\n  at here");
  EXPECT_EQ(refusal_here([] {
              one_of(key([](double x) { return x; }), {{1, scalar()}}).takes("input<Value>");
            }),
            "one_of(1 cases): its key must be a whole number or a string, but is input<double>\n  at here");
}

TEST(Unknown, TypesInsideAModel) {
  EXPECT_EQ(refusal_here([] { Program(named("sums", map(scalar()) >> fold(add, zeros()))); }),
            "pipe \"sums\": the type of its output cannot be worked out; known so far: ?\n"
            "  hint: say it with takes(type) or gives(type)\n  in sums\n  made at here\n"
            "  at here");
  EXPECT_EQ(refusal_here([] {
              Forward loop = forward("loop");
              loop.resolve_to(one_of(itself(), {{0, identity() >> loop()}, {1, loop()}}));
              const Program program(loop());
            }),
            "forward() \"loop\": the type of its output cannot be worked out; known so far: ?\n"
            "  hint: say it with takes(type) or gives(type)\n  in loop\n  made at here\n"
            "  at here");
}

TEST(Arity, OfWires) {
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              const Wire x = c(scalar(), c.input());
              c(add, {x, x, x});
            }),
            "composition \"c\": the wires are (float[], float[], float[]), but function() takes (?, ?)\n  in c\n"
            "  at here");
}

TEST(InfiniteSequence, HasNoEndElsewhereEither) {
  const std::string tail = ": it needs a sequence that ends, but is given inf<float[]>\n  at here";
  EXPECT_EQ(refusal_here([] { all_of({endless(), scalar()}) >> rnn_from(keep); }), "rnn_from()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> min(); }), "min()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> max(); }), "max()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> mean(); }), "mean()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> stack(3); }), "stack(3)" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> pad(1, 1); }), "pad(1, 1)" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> child_sum(); }), "sum()" + tail);
  EXPECT_EQ(refusal_here([] { endless() >> metric("m"); }),
            "metric(\"m\"): it takes a tensor, or the pair (tensor, label), but is given inf<float[]>\n"
            "  at here");
  EXPECT_EQ(refusal_here([] { endless() >> [](const std::vector<Expr>& all) { return all[0]; }; }),
            "pipe: broadcast() gives inf<float[]>, but function() takes seq<?>\n  at here");
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
  EXPECT_EQ(of([](const Wire& wire) { wire[1]; }), "get(1): there is no item 1 in (float[])\n  in c\n  at here");
  EXPECT_EQ(of([](const Wire& wire) { wire["a"]["b"]; }),
            "get(\"b\"): it takes data (input<T>), but is given float[]\n  in c\n  at here");
}

TEST(Composition, RefusesACycleOfOneAndTwoOutputs) {
  EXPECT_EQ(refusal_here([] {
              Composition c("c");
              const Wire a = c.add(negate);
              a.reads(a);
              c.output().reads(a);
              Block block = c;
            }),
            "composition \"c\": output depends on its own output: a cycle\n  in c\n  at here");
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
            "fold(): its start takes input<Value>, but is given void\n  at here");
  EXPECT_EQ(refusal_here([&] { numbers() >> rnn(keep, reads()); }),
            "rnn(): its first state takes input<Value>, but is given void\n  at here");
  EXPECT_EQ(refusal_here([&] { numbers() >> reduce(add, reads()); }),
            "reduce(): its block for empty sequences takes input<Value>, but is given void\n  at here");
  EXPECT_EQ(refusal_here([&] { optional(scalar(), reads()); }),
            "optional(): its block for null takes input<Value>, but is given void\n  at here");
  // What does not look at its input may stand where there is one, too.
  const Block one = from_tensor(Tensor(Shape{}, {1}));
  const Block both = all_of({map(scalar()) >> fold(add, one), length() >> one});
  testing::expect_three_ways(both, {{Value::list({2}), Value::list({3, 1})}});
}

TEST(Names, AreNotEmpty) {
  EXPECT_EQ(refusal_here([] { get(""); }), "get: the name is empty\n  at here");
  EXPECT_EQ(refusal_here([] { record({{"", scalar()}}); }), "record: the name of a field is empty\n  at here");
}

TEST(Collecting, RefusesTwoTypesOfOneName) {
  EXPECT_EQ(refusal_here([] {
              Program(all_of({scalar() >> tap("t"), vector(1) >> tap("t")}));
            }),
            "tap \"t\": its type is float[] in one place and float[1] in another");
  EXPECT_EQ(refusal_here([] { numbers() >> metric("m"); }),
            "metric(\"m\"): it takes a tensor, or the pair (tensor, label), but is given seq<float[]>\n"
            "  at here");
}

TEST(Layers, RefuseOtherInputs) {
  Model model;
  const nn::Linear layer(model / "layer", 2, 2);
  const nn::Embedding table(model / "table", 3, 2);
  EXPECT_EQ(refusal_here([&] { scalar() >> layer; }),
            "pipe: scalar() gives float[], but Linear(layer.W) takes float[2]\n  at here");
  EXPECT_EQ(refusal_here([&] { vector(2) >> embedding(table); }),
            "embedding(table.table[3, 2]): it takes data that is a whole number, but is given float[2]\n"
            "  at here");
  EXPECT_EQ(refusal_of([&] { eval(embedding(table), Value(1.5)); }),
            "embedding(table.table[3, 2]): expected a whole number, but got 1.5\n  in instance 0");
}

TEST(Results, AreAskedForAsTheyAre) {
  const Result tuple = eval(all_of({scalar()}), Value(1));
  EXPECT_EQ(refusal_of([&] { static_cast<void>(tuple.leaf()); }), "output: it is (float[]), not a tensor");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(tuple[1]); }), "output: it is (float[]), not an item at that place");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(tuple[0].as<std::vector<Tensor>>()); }),
            "output: it is float[], not a sequence");
  EXPECT_EQ(refusal_of([&] { static_cast<void>(eval(identity(), Value(1)).input<int>()); }),
            "output: it is input<Value>, not an input of the C++ type asked for");
}

TEST(Types, AreReadFromTexts) {
  EXPECT_EQ(refusal_of([] { scalar().takes("seq<float[3>"); }),
            "type: expected \"]\" at position 11 of \"seq<float[3>\"");
}

}  // namespace
}  // namespace espalier::blocks
