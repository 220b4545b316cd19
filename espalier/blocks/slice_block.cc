/// slice(): some of the elements of a sequence or of the items of a tuple.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/elements.h"
#include "espalier/blocks/sequence.h"
#include "espalier/blocks/walk.h"

namespace espalier::blocks {
namespace {

/// The places that a slice of so many elements takes: first, first + step, ...
struct Places {
  std::int64_t first;
  std::int64_t count;
};

Places places_of(const Slice& slice, std::int64_t size) {
  const bool backwards = slice.step < 0;
  const std::int64_t lowest = backwards ? -1 : 0;
  const std::int64_t highest = backwards ? size - 1 : size;
  const auto place = [&](const std::optional<std::int64_t>& given, std::int64_t otherwise) {
    if (!given) return otherwise;
    return std::clamp(*given < 0 ? *given + size : *given, lowest, highest);
  };
  const std::int64_t first = place(slice.start, backwards ? highest : lowest);
  const std::int64_t stop = place(slice.stop, backwards ? lowest : highest);
  const std::int64_t distance = backwards ? first - stop : stop - first;
  // Divided by the step as it is: the lowest number has no positive twin.
  const std::int64_t more = backwards ? (1 - distance) / slice.step : (distance - 1) / slice.step;
  return {first, distance <= 0 ? 0 : more + 1};
}

struct SliceSpec {
  Slice slice;
  std::int32_t width;
};

void take(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const SliceSpec*>(at.data);
  const Slot::Sequence from = walk.in(at, 0).sequence;
  const Places places = places_of(spec.slice, from.count);
  if (spec.slice.step == 1) {  // a part of what is there
    walk.out(at, 0).sequence = {from.data + places.first * spec.width, places.count};
    return;
  }
  Slot* slots = walk.keep->slots(places.count * spec.width);
  for (std::int64_t i = 0; i < places.count; ++i)
    std::copy_n(from.data + (places.first + i * spec.slice.step) * spec.width, spec.width, slots + i * spec.width);
  walk.out(at, 0).sequence = {slots, places.count};
}

class SliceNode : public BlockNode {
 public:
  explicit SliceNode(const Slice& slice) : slice_(slice) {}

  std::string label() const override {
    std::string text;
    if (slice_.start) text += fmt::format(".start = {}, ", *slice_.start);
    if (slice_.stop) text += fmt::format(".stop = {}, ", *slice_.stop);
    return fmt::format("slice({{{}.step = {}}})", text, slice_.step);
  }
  void infer(Inference& types) override {
    Term* given = types.look(in, *this);
    if (given->is(Term::Kind::kTuple)) {
      std::vector<Term*> items;
      const Places places = places_of(slice_, std::ssize(given->items));
      for (std::int64_t i = 0; i < places.count; ++i)
        items.push_back(given->items[static_cast<std::size_t>(places.first + i * slice_.step)]);
      types.output_is(*this, types.tuple(std::move(items)));
      return;
    }
    Term* element = types.unknown();
    if (find_elements(types, *this, in, element, Infinite::kRefused) != nullptr)
      types.output_is(*this, types.sequence(element));
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Term* given = resolve(in);
    if (given->is(Term::Kind::kTuple)) return items(*given, in_registers);
    Registers result = to.result(out, want);
    to.native<&take>({emit_sequence(to, in, in_registers)}, result,
                     to.own(SliceSpec{slice_, Emitter::width(resolve(out)->items[0])}));
    return result;
  }

 private:
  Registers items(const Term& tuple, const Registers& all) const {
    std::vector<Registers> parts;
    auto next = all.begin();
    for (Term* item : tuple.items) {
      const std::int32_t width = Emitter::width(item);
      parts.emplace_back(next, next + width);
      next += width;
    }
    Registers taken;
    const Places places = places_of(slice_, std::ssize(tuple.items));
    for (std::int64_t i = 0; i < places.count; ++i) {
      const Registers& part = parts[static_cast<std::size_t>(places.first + i * slice_.step)];
      taken.insert(taken.end(), part.begin(), part.end());
    }
    return taken;
  }

  Slice slice_;
};

}  // namespace

Block slice(const Slice& which, const char* file, std::int32_t line) {
  const SourceLine where{file, line};
  if (which.step == 0) throw UsageError("slice: the step must not be 0\n  at " + where.to_string());
  return make_block<SliceNode>(where, {}, which);
}

}  // namespace espalier::blocks
