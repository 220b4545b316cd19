/// map(), fold(), rnn(), reduce(): blocks that run for each element.
#include <fmt/format.h>

#include <algorithm>

#include "espalier/blocks/build.h"
#include "espalier/blocks/elements.h"
#include "espalier/blocks/function_block.h"
#include "espalier/blocks/sequence.h"
#include "espalier/blocks/tensor_blocks.h"
#include "espalier/blocks/walk.h"
#include "espalier/blocks/zeros.h"

namespace espalier::blocks {
namespace {

class MapNode : public BlockNode {
 public:
  std::string label() const override { return "map()"; }
  void infer(Inference& types) override {
    const BlockNode& body = *children[0].node;
    if (Term* given = find_elements(types, *this, in, body.in, Infinite::kAllowed)) {
      types.output_is(*this, given->is(Term::Kind::kInfinite) ? types.infinite(body.out) : types.sequence(body.out));
      return;
    }
    // What follows may say what comes out, and that what comes in is infinite.
    Term* made = types.look(out, *this);
    if (made->is(Term::Kind::kUnknown)) {
      types.elements_are(*this, made, "an element of its output must be", body.out, "its block gives");
      return;
    }
    if (made->is(Term::Kind::kInfinite)) types.input_is(*this, types.infinite(body.in));
    types.output_is(*this, made->is(Term::Kind::kInfinite) ? types.infinite(body.out) : types.sequence(body.out));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    const BlockNode& body = *children[0].node;
    if (resolve(in)->is(Term::Kind::kInfinite)) return to.emit_child(*this, 0, in_registers, want);
    Loop loop(to, emit_sequence(to, in, in_registers), body.in);
    const std::int32_t results = loop.results(body.out);
    loop.begin();
    loop.store(to.emit_child(*this, 0, loop.element), results);
    loop.end();
    return {results};
  }
};

Registers joined(const Registers& a, const Registers& b) {
  Registers both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

class FoldNode : public BlockNode {
 public:
  std::string label() const override { return "fold()"; }
  void infer(Inference& types) override {
    BlockNode& combine = *children[0].node;
    Term* element = types.unknown();
    types.equal(*this, combine.in, "its block takes", types.tuple({out, element}),
                "is given the pair (state, element):");
    types.equal(*this, combine.out, "its block gives", out, "the state is");
    types.gets_nothing(*this, *children[1].node, "its start");
    types.equal(*this, children[1].node->out, "its start gives", out, "the state is");
    find_elements(types, *this, in, element, Infinite::kRefused);
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers*) override {
    const std::int32_t sequence = emit_sequence(to, in, in_registers);
    // Registers of its own: the result may be wanted where the input is.
    Registers state = to.registers(Emitter::width(out));
    to.emit_child(*this, 1, {}, &state);
    Loop loop(to, sequence, resolve(children[0].node->in)->items[1]);
    loop.begin();
    to.emit_child(*this, 0, joined(state, loop.element), &state);
    loop.end();
    return state;
  }
};

class RnnNode : public BlockNode {
 public:
  RnnNode(bool from_input, bool gives_state) : from_input_(from_input), gives_state_(gives_state) {}

  std::string label() const override { return from_input_ ? "rnn_from()" : "rnn()"; }
  void infer(Inference& types) override {
    BlockNode& cell = *children[0].node;
    Term* const state = types.unknown();
    Term* const element = types.unknown();
    Term* const output = types.unknown();
    types.equal(*this, cell.in, "its cell takes", types.tuple({element, state}), "is given the pair (element, state):");
    if (gives_state_) {
      types.equal(*this, cell.out, "its cell gives", state, "the state is");
      Term* known = types.look(state, *this);
      if (known->is(Term::Kind::kUnknown)) return;
      types.equal(*this, output, "its output for an element is",
                  known->is(Term::Kind::kTuple) ? known->items[0] : known, "the first part of the state is");
    } else {
      types.equal(*this, cell.out, "its cell gives", types.tuple({output, state}),
                  "must give the pair (output, state):");
    }
    if (!from_input_) {
      types.gets_nothing(*this, *children[1].node, "its first state");
      types.equal(*this, children[1].node->out, "its first state is", state, "the state is");
    }
    types.output_is(*this, types.tuple({types.sequence(output), state}));
    Term* source = in;
    if (from_input_) {
      Term* given = types.look(in, *this);
      if (given->is(Term::Kind::kUnknown)) return;
      if (!given->is(Term::Kind::kTuple) || given->items.size() != 2)
        types.refuse_kind(*this, given, "the pair (sequence, state)");
      types.equal(*this, given->items[1], "item 1 of its input is", state, "the state is");
      source = given->items[0];
    }
    find_elements(types, *this, source, element, Infinite::kRefused);
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers*) override {
    const std::vector<Term*>& made_types = resolve(out)->items;  // outputs and state
    Term* const output = resolve(made_types[0])->items[0];
    const std::int32_t width = Emitter::width(made_types[1]);
    Term* source = from_input_ ? resolve(in)->items[0] : in;
    const Registers sources(in_registers.begin(), in_registers.end() - (from_input_ ? width : 0));
    const std::int32_t sequence = emit_sequence(to, source, sources);
    const Registers state = to.registers(width);
    if (from_input_)
      to.move({in_registers.end() - width, in_registers.end()}, state);
    else
      to.emit_child(*this, 1, {}, &state);
    Loop loop(to, sequence, resolve(children[0].node->in)->items[0]);
    const std::int32_t outputs = loop.results(output);
    loop.begin();
    Registers made = to.emit_child(*this, 0, joined(loop.element, state));
    const std::int32_t output_width = Emitter::width(output);
    loop.store({made.begin(), made.begin() + output_width}, outputs);
    to.move(gives_state_ ? made : Registers(made.begin() + output_width, made.end()), state);
    loop.end();
    return joined({outputs}, state);
  }

 private:
  bool from_input_;
  bool gives_state_;  // the cell is one of nn: its output is the beginning of its state
};

/// A copy of a sequence, which rounds of pairs shrink.
void start_rounds(Walk& walk, const Instruction& at) {
  const Slot::Sequence from = walk.in(at, 0).sequence;
  Slot* buffer = walk.keep->slots(from.count * at.count);
  std::copy_n(from.data, from.count * at.count, buffer);
  walk.out(at, 0).sequence = {buffer, from.count};
  walk.out(at, 1).place = {0, from.count};
}

/// Loads the next two elements of a round, or goes on elsewhere when one element is left.
const Instruction* next_pair(Walk& walk, const Instruction& at) {
  Slot::Place& place = walk.in(at, 1).place;
  Slot* const buffer = walk.in(at, 0).sequence.data;
  const std::int64_t width = at.count;
  if (place.next == place.end / 2) {  // a round is over: what is left over goes on to the next
    if (place.end % 2 != 0) std::copy_n(buffer + (place.end - 1) * width, width, buffer + place.next * width);
    place = {0, (place.end + 1) / 2};
  }
  if (place.end <= 1) return at.other;
  const Slot* from = buffer + 2 * place.next * width;
  for (std::int32_t i = 0; i < 2 * at.count; ++i) walk.out(at, i) = from[i];
  ++place.next;
  return &at + 1;
}

void store_pair(Walk& walk, const Instruction& at) {
  Slot* into = walk.in(at, 0).sequence.data + (walk.in(at, 1).place.next - 1) * at.count;
  for (std::int32_t i = 0; i < at.count; ++i) into[i] = walk.in(at, i + 2);
}

class ReduceNode : public BlockNode {
 public:
  std::string label() const override { return "reduce()"; }
  void infer(Inference& types) override {
    BlockNode& combine = *children[0].node;
    types.equal(*this, combine.in, "its block takes", types.tuple({out, out}), "is given a pair of elements:");
    types.equal(*this, combine.out, "its block gives", out, "an element is");
    types.gets_nothing(*this, *children[1].node, "its block for empty sequences");
    types.equal(*this, children[1].node->out, "its block for empty sequences gives", out, "an element is");
    find_elements(types, *this, in, out, Infinite::kRefused);
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    const std::int32_t sequence = emit_sequence(to, in, in_registers);
    const std::int32_t width = Emitter::width(out);
    Registers result = to.result(out, want);
    emit_if_empty(
        to, sequence, [&] { to.emit_child(*this, 1, {}, &result); },
        [&] {
          const Registers rounds = to.registers(2);
          const std::int32_t start = to.native<&start_rounds>({sequence}, rounds);
          to.instruction(start).count = width;
          const Registers pair = to.registers(2 * width);
          const std::int32_t next = to.add(&next_pair, rounds, pair);
          to.instruction(next).count = width;
          const Registers made = to.emit_child(*this, 0, pair);
          const std::int32_t store = to.native<&store_pair>(joined(rounds, made), {});
          to.instruction(store).count = width;
          to.jump_to(to.jump(), next);
          to.jump_to(next, to.here());
          emit_load(to, rounds[0], 0, result);
        });
    return result;
  }
};

bool is_recurrent(const Block& cell) {
  const auto* function = dynamic_cast<const FunctionNode*>(cell.node());
  return function != nullptr && function->is_recurrent();
}

Block default_zeros(const BlockArg& beside) {
  return zeros(std::nullopt, beside.where().file(), beside.where().line());
}

}  // namespace

Block map(const BlockArg& block) { return make_block<MapNode>(block.where(), {{block.block()}}); }

Block fold(const BlockArg& combine, const BlockArg& start) {
  return make_block<FoldNode>(combine.where(), {{combine.block()}, {start.block()}});
}

Block rnn(const BlockArg& cell) { return rnn(cell, default_zeros(cell)); }

Block rnn(const BlockArg& cell, const BlockArg& initial) {
  return make_block<RnnNode>(cell.where(), {{cell.block()}, {initial.block()}}, false, is_recurrent(cell.block()));
}

Block rnn_from(const BlockArg& cell) {
  return make_block<RnnNode>(cell.where(), {{cell.block()}}, true, is_recurrent(cell.block()));
}

Block reduce(const BlockArg& combine) { return reduce(combine, default_zeros(combine)); }

Block reduce(const BlockArg& combine, const BlockArg& otherwise) {
  return make_block<ReduceNode>(combine.where(), {{combine.block()}, {otherwise.block()}});
}

}  // namespace espalier::blocks
