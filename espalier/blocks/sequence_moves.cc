/// broadcast(), zip(), ngrams(), nth(): blocks that only rearrange elements.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/elements.h"
#include "espalier/blocks/input_type.h"
#include "espalier/blocks/sequence.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {
namespace {

class BroadcastNode : public BlockNode {
 public:
  std::string label() const override { return "broadcast()"; }
  void infer(Inference& types) override { types.output_is(*this, types.infinite(in)); }
  Registers emit(Emitter&, const Registers& in_registers, const Registers*) override { return in_registers; }
};

/// The parts of a zip in order: a sequence of elements of `width` slots, or, repeated, as many registers.
struct ZipSpec {
  struct Part {
    std::int32_t width;
    bool repeated;
  };
  std::vector<Part> parts;
  std::int32_t width = 0;  // of a whole
};

void interleave(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const ZipSpec*>(at.data);
  std::int64_t length = std::numeric_limits<std::int64_t>::max();
  std::int32_t input = 0;
  for (const ZipSpec::Part& part : spec.parts) {
    if (!part.repeated) length = std::min(length, walk.in(at, input).sequence.count);
    input += part.repeated ? part.width : 1;
  }
  Slot* const slots = walk.keep->slots(length * spec.width);
  std::int32_t column = 0;
  input = 0;
  for (const ZipSpec::Part& part : spec.parts) {
    for (std::int64_t row = 0; row < length; ++row)
      for (std::int32_t i = 0; i < part.width; ++i)
        slots[row * spec.width + column + i] =
            part.repeated ? walk.in(at, input + i) : walk.in(at, input).sequence.data[row * part.width + i];
    column += part.width;
    input += part.repeated ? part.width : 1;
  }
  walk.out(at, 0).sequence = {slots, length};
}

class ZipNode : public BlockNode {
 public:
  std::string label() const override { return "zip()"; }
  void infer(Inference& types) override {
    Term* given = types.look(in, *this);
    if (given->is(Term::Kind::kUnknown)) return;
    if (!given->is(Term::Kind::kTuple) || given->items.empty()) types.refuse_kind(*this, given, "a tuple of sequences");
    std::vector<Term*> elements;
    bool all_known = true;
    bool all_infinite = true;
    for (Term* item : given->items) {
      elements.push_back(types.unknown());
      Term* source = find_elements(types, *this, item, elements.back(), Infinite::kAllowed);
      all_known = all_known && source != nullptr;
      all_infinite = all_infinite && source != nullptr && source->is(Term::Kind::kInfinite);
    }
    Term* whole = types.tuple(std::move(elements));
    if (!all_known) {
      types.elements_are(*this, out, "an element of its output must be", whole, "it makes");
      return;
    }
    types.output_is(*this, all_infinite ? types.infinite(whole) : types.sequence(whole));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Term* made = resolve(out);
    if (made->is(Term::Kind::kInfinite)) return in_registers;
    Term* whole = resolve(made->items[0]);
    Term* given = resolve(in);
    ZipSpec spec;
    spec.width = Emitter::width(whole);
    Registers sources;
    auto next = in_registers.begin();
    for (std::size_t i = 0; i < given->items.size(); ++i) {
      const Registers part(next, next + Emitter::width(given->items[i]));
      next += std::ssize(part);
      const bool repeated = resolve(given->items[i])->is(Term::Kind::kInfinite);
      spec.parts.push_back({Emitter::width(whole->items[i]), repeated});
      if (repeated)
        sources.insert(sources.end(), part.begin(), part.end());
      else
        sources.push_back(emit_sequence(to, given->items[i], part));
    }
    Registers result = to.result(out, want);
    to.native<&interleave>(sources, result, to.own(std::move(spec)));
    return result;
  }
};

/// `count` slots an element, `number` elements a window.
void make_windows(Walk& walk, const Instruction& at) {
  const Slot::Sequence from = walk.in(at, 0).sequence;
  const std::int64_t windows = std::max<std::int64_t>(0, from.count - at.number + 1);
  const std::int64_t width = static_cast<std::int64_t>(at.count) * at.number;
  Slot* slots = walk.keep->slots(windows * width);
  for (std::int64_t i = 0; i < windows; ++i) std::copy_n(from.data + i * at.count, width, slots + i * width);
  walk.out(at, 0).sequence = {slots, windows};
}

class NgramsNode : public BlockNode {
 public:
  explicit NgramsNode(std::int32_t n) : n_(n) {}

  std::string label() const override { return fmt::format("ngrams({})", n_); }
  void infer(Inference& types) override {
    Term* element = types.unknown();
    Term* given = find_elements(types, *this, in, element, Infinite::kAllowed);
    Term* window = types.tuple(std::vector<Term*>(static_cast<std::size_t>(n_), element));
    if (given == nullptr) {
      types.elements_are(*this, out, "an element of its output must be", window, "it makes");
      return;
    }
    types.output_is(*this, given->is(Term::Kind::kInfinite) ? types.infinite(window) : types.sequence(window));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    if (resolve(in)->is(Term::Kind::kInfinite)) {
      Registers repeated;
      for (std::int32_t i = 0; i < n_; ++i) repeated.insert(repeated.end(), in_registers.begin(), in_registers.end());
      return repeated;
    }
    Registers result = to.result(out, want);
    const std::int32_t at = to.native<&make_windows>({emit_sequence(to, in, in_registers)}, result);
    to.instruction(at).count = Emitter::width(resolve(out)->items[0]) / n_;
    to.instruction(at).number = n_;
    return result;
  }

 private:
  std::int32_t n_;
};

struct NthSpec {
  const InputType* type;
  std::int32_t width;
};

void choose_element(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const NthSpec*>(at.data);
  const Slot::Sequence from = walk.in(at, 0).sequence;
  const std::int64_t asked = read_integer(*spec.type, walk.in(at, 1).input);
  const std::int64_t place = asked < 0 ? asked + from.count : asked;
  if (place < 0 || place >= from.count)
    refuse_data(fmt::format("there is no element {} in a sequence of {}", asked, from.count));
  for (std::int32_t i = 0; i < spec.width; ++i) walk.out(at, i) = from.data[place * spec.width + i];
}

class NthNode : public BlockNode {
 public:
  std::string label() const override { return "nth()"; }
  void infer(Inference& types) override {
    Term* index = types.unknown();
    Term* source = types.unknown();
    types.equal(*this, in, "it is given", types.tuple({source, index}), "it takes the pair (sequence, number):");
    find_elements(types, *this, source, out, Infinite::kRefused);
    Term* given = types.look(index, *this);
    if (given->is(Term::Kind::kUnknown)) return;
    if (!given->is(Term::Kind::kInput) || given->input->integer == nullptr)
      types.refuse(*this,
                   fmt::format("item 1 of its input must be a whole number in the data, but is {}", to_text(given)));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Term* given = resolve(in);
    const Registers source(in_registers.begin(), in_registers.end() - 1);
    Registers result = to.result(out, want);
    to.native<&choose_element>({emit_sequence(to, given->items[0], source), in_registers.back()}, result,
                               to.own(NthSpec{resolve(given->items[1])->input, Emitter::width(out)}));
    return result;
  }
};

}  // namespace

Block broadcast(const char* file, std::int32_t line) { return make_block<BroadcastNode>({file, line}, {}); }

Block zip(const char* file, std::int32_t line) { return make_block<ZipNode>({file, line}, {}); }

Block zip_with(const BlockArg& block) {
  const SourceLine where = block.where();
  return BlockArg(zip(where.file(), where.line()), where.file(), where.line()) >>
         BlockArg(map(block), where.file(), where.line());
}

Block ngrams(std::int32_t n, const char* file, std::int32_t line) {
  const SourceLine where{file, line};
  if (n < 1)
    throw UsageError(fmt::format("ngrams: the size must be at least 1, but is {}\n  at {}", n, where.to_string()));
  return make_block<NgramsNode>(where, {}, n);
}

Block nth(const char* file, std::int32_t line) { return make_block<NthNode>({file, line}, {}); }

}  // namespace espalier::blocks
