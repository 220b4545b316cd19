/// get(): a part of an input, an item of a tuple, an element of a sequence.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/blocks/access.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/input_blocks.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {
namespace {

struct ElementSpec {
  std::int64_t place;
  std::int32_t width;
};

void load(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const ElementSpec*>(at.data);
  const Slot::Sequence sequence = walk.in(at, 0).sequence;
  const std::int64_t place = spec.place < 0 ? spec.place + sequence.count : spec.place;
  if (place < 0 || place >= sequence.count)
    refuse_data(fmt::format("there is no element {} in a sequence of {}", spec.place, sequence.count));
  for (std::int32_t i = 0; i < spec.width; ++i) walk.out(at, i) = sequence.data[place * spec.width + i];
}

class GetNode : public BlockNode {
 public:
  GetNode(std::string key, std::int64_t place) : key_(std::move(key)), place_(place) {}

  std::string label() const override {
    return key_.empty() ? fmt::format("get({})", place_) : fmt::format("get(\"{}\")", key_);
  }
  void infer(Inference& types) override {
    Term* given = types.look(in, *this);
    switch (given->kind) {
      case Term::Kind::kUnknown: return;
      case Term::Kind::kInput:
        types.output_is(*this, types.input(part_type(types, *this, *given->input, key_, place_)));
        return;
      case Term::Kind::kTuple:
        if (!key_.empty()) break;
        types.output_is(*this, given->items[item_of(types, *given)]);
        return;
      case Term::Kind::kSequence:
        if (!key_.empty()) break;
        types.output_is(*this, given->items[0]);
        return;
      case Term::Kind::kInfinite:
        types.refuse(*this, fmt::format("it needs a sequence that ends, but is given {}", to_text(given)));
      default: break;
    }
    types.refuse_kind(*this, given, key_.empty() ? "data (input<T>), a tuple or a sequence" : "data (input<T>)");
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Term* given = resolve(in);
    if (given->is(Term::Kind::kTuple)) {
      std::int32_t begin = 0;
      const std::size_t item =
          place_ < 0 ? given->items.size() - static_cast<std::size_t>(-place_) : static_cast<std::size_t>(place_);
      for (std::size_t i = 0; i < item; ++i) begin += Emitter::width(given->items[i]);
      return {in_registers.begin() + begin, in_registers.begin() + begin + Emitter::width(out)};
    }
    Registers result = to.result(out, want);
    if (given->is(Term::Kind::kSequence))
      to.native<&load>(in_registers, result, to.own(ElementSpec{place_, Emitter::width(out)}));
    else
      emit_access(to, *given->input, key_, place_, in_registers[0], result[0]);
    return result;
  }

 private:
  std::size_t item_of(Inference& types, const Term& tuple) const {
    const std::int64_t count = std::ssize(tuple.items);
    const std::int64_t item = place_ < 0 ? place_ + count : place_;
    if (item < 0 || item >= count) types.refuse(*this, fmt::format("there is no item {} in {}", place_, to_text(in)));
    return static_cast<std::size_t>(item);
  }

  std::string key_;
  std::int64_t place_;
};

}  // namespace

Block get(std::string name, const char* file, std::int32_t line) {
  if (name.empty()) throw UsageError("get: the name is empty\n  at " + SourceLine{file, line}.to_string());
  return make_block<GetNode>({file, line}, {}, std::move(name), std::int64_t{0});
}

Block get(std::int64_t place, const char* file, std::int32_t line) {
  return make_block<GetNode>({file, line}, {}, std::string(), place);
}

}  // namespace espalier::blocks
