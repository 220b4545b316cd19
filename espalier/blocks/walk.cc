#include "espalier/blocks/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "espalier/base/error.h"
#include "espalier/blocks/function.h"

namespace espalier::blocks {

std::string Code::path(std::int32_t at) const {
  std::string text;
  for (; at > 0; at = paths[static_cast<std::size_t>(at)].parent) {
    const std::string& part = paths[static_cast<std::size_t>(at)].part;
    text = text.empty() ? part : fmt::format("{} / {}", part, text);
  }
  return text;
}

namespace {

const void* part_of(const FieldSpec& field, const void* whole) {
  if (whole == nullptr) refuse_data("the input is null");
  return field.part(field.object, whole);
}

}  // namespace

Walk::Walk(const Code& code) : code_(code), hints_(static_cast<std::size_t>(code.hints)) {
  results.resize(static_cast<std::size_t>(code.root.results));
}

void Walk::forget_collected() {
  metrics.clear();
  taps.clear();
  collected.clear();
}

void Walk::reserve(std::int64_t slots) {
  if (const auto needed = static_cast<std::size_t>(slots); needed > stack_.size())
    stack_.resize(std::max(needed, 2 * stack_.size()));
}

void Walk::run(Graph& graph, const void* input, std::int64_t instance) {
  graph_ = &graph;
  memo_.clear();
  // What nobody else took is used again.
  if (keep.use_count() == 1)
    keep->clear();
  else
    keep = std::make_shared<Keep>();
  at_ = nullptr;
  try {
    execute(input);
  } catch (...) {
    rethrow(instance);
  }
}

void Walk::execute(const void* input) {
  const Instruction* const first = code_.instructions.data();
  std::int64_t base = 0;
  std::int32_t size = code_.root.frame;
  reserve(size);
  frame_ = stack_.data();
  if (code_.root.arguments > 0) frame_[0].input = input;
  const Instruction* at = first + code_.root.entry;
  // Opens the frame of a procedure; gives the caller's, which may have moved.
  const auto enter = [&](const Procedure& procedure) __attribute__((always_inline)) {
    const std::int64_t next = base + size + kFrameSlots;
    if (next + procedure.frame > std::ssize(stack_)) [[unlikely]]
      reserve(next + procedure.frame);
    Slot* const caller = stack_.data() + base;
    frame_ = stack_.data() + next;
    new (frame_ - kFrameSlots) Frame{at + 1, at->out, base, size};
    base = next;
    size = procedure.frame;
    return caller;
  };
  CallContext context{*graph_, *keep, frame_, nullptr};
  while (true) {
    at_ = at;
    switch (at->opcode) {
      case Opcode::kNative:
        at->native(*this, *at);
        ++at;
        break;
      case Opcode::kApply: {
        const auto& spec = *static_cast<const ApplySpec*>(at->data);
        context.frame = frame_;
        context.site = &spec.site;
        spec.call(spec.object, context);
        if (spec.check != nullptr) spec.check(spec, context);
        ++at;
        break;
      }
      case Opcode::kField: {
        frame_[at->out[0]].input = part_of(*static_cast<const FieldSpec*>(at->data), frame_[at->in[0]].input);
        ++at;
        break;
      }
      case Opcode::kMove:
        for (std::int32_t i = 0; i < at->count; ++i) frame_[at->out[i]] = frame_[at->in[i]];
        ++at;
        break;
      case Opcode::kJump: at = first + at->target; break;
      case Opcode::kChoose: {
        const auto& spec = *static_cast<const ChoiceSpec*>(at->data);
        at = first + spec.targets[static_cast<std::size_t>(spec.choose(*this, *at))];
        break;
      }
      case Opcode::kNext: {
        Slot::Place& place = frame_[at->in[1]].place;
        if (place.next == place.end) {
          at = first + at->target;
          break;
        }
        const Slot* from = frame_[at->in[0]].sequence.data + place.next * at->count;
        for (std::int32_t i = 0; i < at->count; ++i) frame_[at->out[i]] = from[i];
        ++place.next;
        ++at;
        break;
      }
      case Opcode::kPair: {
        Slot::Place& place = frame_[at->in[1]].place;
        Slot* const buffer = frame_[at->in[0]].sequence.data;
        const std::int64_t width = at->count;
        if (place.next == place.end / 2) {  // a round is over: what is left over goes on to the next
          if (place.end % 2 != 0) std::copy_n(buffer + (place.end - 1) * width, width, buffer + place.next * width);
          place = {0, (place.end + 1) / 2};
        }
        if (place.end <= 1) {
          at = first + at->target;
          break;
        }
        const Slot* from = buffer + 2 * place.next * width;
        for (std::int64_t i = 0; i < 2 * width; ++i) frame_[at->out[i]] = from[i];
        ++place.next;
        ++at;
        break;
      }
      case Opcode::kCall: {
        const auto& procedure = *static_cast<const Procedure*>(at->data);
        Slot* const caller = enter(procedure);
        for (std::int32_t i = 0; i < procedure.arguments; ++i) frame_[i] = caller[at->in[i]];
        at = first + procedure.entry;
        break;
      }
      case Opcode::kCallField: {
        const auto& spec = *static_cast<const FieldCallSpec*>(at->data);
        const void* part = part_of(spec.field, frame_[at->in[0]].input);
        frame_[spec.part].input = part;
        enter(*spec.procedure);
        frame_[0].input = part;
        at = first + spec.procedure->entry;
        break;
      }
      case Opcode::kReturn: {
        if (base == 0) {
          for (std::int32_t i = 0; i < at->count; ++i) results[static_cast<std::size_t>(i)] = frame_[at->in[i]];
          return;
        }
        const Frame back = *std::launder(reinterpret_cast<const Frame*>(frame_ - kFrameSlots));
        Slot* const caller = stack_.data() + back.base;
        for (std::int32_t i = 0; i < at->count; ++i) caller[back.results[i]] = frame_[at->in[i]];
        frame_ = caller;
        base = back.base;
        size = back.size;
        at = back.back;
        break;
      }
    }
  }
}

void Walk::rethrow(std::int64_t instance) const {
  std::string label;
  std::string more = fmt::format("\n  in instance {}", instance);
  if (at_ != nullptr) {
    label = code_.labels[static_cast<std::size_t>(at_ - code_.instructions.data())] + ": ";
    if (const std::string path = code_.path(at_->path); !path.empty()) more = "\n  in " + path + more;
  }
  try {
    throw;
  } catch (const DataError& error) {
    throw DataError(label + error.what() + more);
  } catch (const ResourceError& error) {
    throw ResourceError(error.what() + more);
  } catch (const InternalError& error) {
    throw InternalError(error.what() + more);
  } catch (const CellError& error) {
    throw CellError(error.what() + more);
  } catch (const UsageError& error) {
    throw UsageError(error.what() + more);
  } catch (const std::exception& error) {
    std::throw_with_nested(DataError(label + "the function throws: " + error.what() + more));
  }
}

}  // namespace espalier::blocks
