/// What the compiler must refuse. Each function has a line of code that is refused, and its correct twin.
/// check_refusals.sh compiles this file once as it is, which must work, and once with REFUSED set to each number, which
/// must fail with the text after `expect:`.
#include <espalier/blocks.h>

#include <string>
#include <tuple>
#include <vector>

namespace esp = espalier;
namespace b = espalier::blocks;

#ifndef REFUSED
#define REFUSED 0
#endif

// --- blocks

void function_with_a_generic_lambda() {
#if REFUSED == 1  // expect: the types of f's arguments must be written out
  b::function([](auto x) { return x; });
#else
  b::function([](esp::Expr x) { return x; });
#endif
}

void block_from_a_number() {
#if REFUSED == 2  // expect: BlockArg
  b::map(5);
#else
  b::map(b::scalar());
#endif
}

void block_from_a_generic_lambda() {
#if REFUSED == 3  // expect: BlockArg
  b::map([](auto x) { return x; });
#else
  b::map([](esp::Expr x) { return x; });
#endif
}

void field_without_a_block(const b::Block& word) {
#if REFUSED == 4  // expect: record
  b::record({{"word", 5}});
#else
  b::record({{"word", word}});
#endif
}

void wires_by_anything_but_keys(const b::Wire& wire) {
#if REFUSED == 5  // expect: operator[]
  wire[1.5];
#else
  wire[1];
#endif
}

struct Generator {
  struct Iterator {
    int operator*() const { return 0; }
    Iterator& operator++() { return *this; }
    bool operator!=(const Iterator&) const { return false; }
  };
  Iterator begin() const { return {}; }
  Iterator end() const { return {}; }
};

void batch_of_inputs_that_are_nowhere(const b::Program& program, esp::Graph& g) {
#if REFUSED == 6  // expect: the inputs of a program must be in memory
  program.loss(g, Generator());
#else
  program.loss(g, std::vector<int>{1, 2});
#endif
}

void stream_of_no_range(const b::Program& program) {
#if REFUSED == 7  // expect: stream
  b::stream(program, 5);
#else
  b::stream(program, Generator());
#endif
}

void result_as_a_number(const b::Result& result) {
#if REFUSED == 8  // expect: a tensor, or vectors, pairs and tuples of such
  static_cast<void>(result.as<int>());
#else
  static_cast<void>(result.as<esp::Tensor>());
#endif
}

void type_by_a_pointer() {
#if REFUSED == 9  // expect: input_type
  static_cast<void>(b::input_type<int*>());
#else
  static_cast<void>(b::input_type<int>());
#endif
}

void key_that_is_a_float() {
#if REFUSED == 10  // expect: one_hot
  b::one_hot({1.5, 2.5});
#else
  b::one_hot({1, 2});
#endif
}

// --- graphs, models, tensors

void copy_of_a_graph() {
  esp::Graph g;
#if REFUSED == 11  // expect: deleted
  const esp::Graph copy = g;
#else
  const esp::Graph& same = g;
  static_cast<void>(same);
#endif
}

void copy_of_a_model() {
  esp::Model model;
#if REFUSED == 12  // expect: deleted
  const esp::Model copy = model;
#else
  const esp::Model& same = model;
  static_cast<void>(same);
#endif
}

void parameter_by_value(const esp::Parameter& parameter) {
#if REFUSED == 13  // expect: deleted
  const esp::Parameter copy = parameter;
#else
  const esp::Parameter& same = parameter;
  static_cast<void>(same);
#endif
}

void op_of_a_text(const esp::Expr& x) {
#if REFUSED == 14  // expect: Operand
  static_cast<void>(esp::tanh("x"));
#else
  static_cast<void>(esp::tanh(x));
#endif
}

void constant_of_a_text(esp::Graph& g) {
#if REFUSED == 15  // expect: constant
  static_cast<void>(g.constant("one"));
#else
  static_cast<void>(g.constant(1.0));
#endif
}

void kind_of_a_row_as_a_number(esp::Structure& structure, const esp::Recursion& plan) {
#if REFUSED == 20  // expect: add
  structure.add(0, 0, {});
#else
  structure.add(plan.kind("scan"), 0, {});
#endif
}

void layer_without_a_scope() {
  esp::Model model;
#if REFUSED == 16  // expect: Linear
  const esp::nn::Linear layer(2, 3);
#else
  const esp::nn::Linear layer(model / "layer", 2, 3);
#endif
}

void optimizer_of_a_constant_model(const esp::Model& fixed, esp::Model& model) {
#if REFUSED == 17  // expect: Model
  esp::optim::Adam adam(fixed);
#else
  static_cast<void>(fixed);
  esp::optim::Adam adam(model);
#endif
}

// --- data

void value_of_a_character() {
#if REFUSED == 18  // expect: Value
  const esp::Value value = 'a';
#else
  const esp::Value value = "a";
#endif
}

void value_of_a_pointer(const std::string& text) {
#if REFUSED == 19  // expect: Value
  const esp::Value value = &text;
#else
  const esp::Value value = text;
#endif
}
