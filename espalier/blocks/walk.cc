#include "espalier/blocks/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/blocks/refused_data.h"

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

/// What the last walk of a thread leaves to the next.
struct Spare {
  std::vector<Slot> stack;
  std::vector<Expr> losses;
};
thread_local Spare spare;
constexpr std::size_t kSpared = 1 << 16;  // slots or losses, 1 MB

[[noreturn, gnu::cold]] void refuse_null() { refuse_data("the input is null"); }

const void* part_of(const FieldSpec& field, const void* whole) {
  if (whole == nullptr) refuse_null();
  return field.part(field.object, whole);
}

}  // namespace

Walk::Walk(const Code& code)
    : code_(code),
      stack_(std::move(spare.stack)),
      losses_(std::move(spare.losses)),
      hints_(static_cast<std::size_t>(code.hints)) {
  results.resize(static_cast<std::size_t>(code.root.results));
  stack_.resize(std::max(stack_.size(), static_cast<std::size_t>(code.root.frame)));
  end_ = stack_.data() + stack_.size();
}

Walk::~Walk() {
  if (stack_.size() <= kSpared) spare.stack = std::move(stack_);
  if (losses_.size() <= kSpared) spare.losses = std::move(losses_);
}

void Walk::forget_collected() {
  metrics.clear();
  taps.clear();
  collected.clear();
}

void Walk::make_room_for_losses() { losses_.resize(std::max<std::size_t>(64, 2 * losses_.size())); }

Slot* Walk::grow(Slot* from, std::int64_t slots) {
  const std::int64_t before = from - stack_.data();
  const std::int64_t frame = context_.frame - stack_.data();
  stack_.resize(std::max(static_cast<std::size_t>(before + slots), 2 * stack_.size()));
  end_ = stack_.data() + stack_.size();
  context_.frame = stack_.data() + frame;
  return stack_.data() + before;
}

void Walk::run(Graph& graph, const void* input, std::int64_t instance) {
  memo_.clear();
  // What nobody else took is used again.
  if (keep.use_count() == 1)
    keep->clear();
  else
    keep = std::make_shared<Keep>();
  running_ = 0;
  context_ = {&graph, keep.get(), stack_.data(), nullptr};
  if (code_.root.arguments > 0) context_.frame[0].input = input;
  try {
    go(code_.root.entry);
  } catch (...) {
    rethrow(input, instance);
  }
}

void Walk::go(const Instruction* at) {
  for (; at != nullptr; at = at->step(*this, *at)) at_ = at;
}

const Instruction* Walk::jump(Walk&, const Instruction& at) { return at.other; }

const Instruction* Walk::move(Walk& walk, const Instruction& at) {
  for (std::int32_t i = 0; i < at.count; ++i) walk.out(at, i) = walk.in(at, i);
  return &at + 1;
}

const Instruction* Walk::apply(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const ApplySpec*>(at.data);
  walk.context_.site = &spec.site;
  spec.call(spec.object, walk.context_);
  return &at + 1;
}

const Instruction* Walk::member(Walk& walk, const Instruction& at) {
  const void* whole = walk.in(at, 0).input;
  if (whole == nullptr) refuse_null();
  walk.out(at, 0).input = static_cast<const std::byte*>(whole) + at.number;
  return &at + 1;
}

const Instruction* Walk::member_and_apply(Walk& walk, const Instruction& at) {
  walk.at_ = member(walk, at);
  return apply(walk, *walk.at_);
}

const Instruction* Walk::field(Walk& walk, const Instruction& at) {
  walk.out(at, 0).input = part_of(*static_cast<const FieldSpec*>(at.data), walk.in(at, 0).input);
  return &at + 1;
}

Slot* Walk::enter(const Procedure& procedure, const Instruction& call, const Instruction* back) {
  Slot* frame = context_.frame + call.count;
  if (end_ - frame < procedure.frame) [[unlikely]]
    frame = grow(frame, procedure.frame);
  frame[-1].link = {&call, back};
  return frame;
}

const Instruction* Walk::call(Walk& walk, const Instruction& at) {
  const auto& procedure = *static_cast<const Procedure*>(at.data);
  Slot* const frame = walk.enter(procedure, at, &at + 1);
  for (std::int32_t i = 0; i < procedure.arguments; ++i) frame[i] = walk.in(at, i);
  walk.context_.frame = frame;
  return procedure.entry;
}

const Instruction* Walk::enter_with_field(const Instruction& call, const Instruction* back) {
  const auto& spec = *static_cast<const FieldCallSpec*>(call.data);
  const void* part = part_of(spec.field, in(call, 0).input);
  slot_at(context_.frame, spec.part).input = part;
  Slot* const frame = enter(*spec.procedure, call, back);
  frame[0].input = part;
  context_.frame = frame;
  return spec.procedure->entry;
}

const Instruction* Walk::call_with_field(Walk& walk, const Instruction& at) {
  return walk.enter_with_field(at, &at + 1);
}

const Instruction* Walk::call_twice_with_field(Walk& walk, const Instruction& at) {
  constexpr std::int32_t kMost = 100;
  if (walk.running_ == kMost) return call_with_field(walk, at);
  ++walk.running_;
  walk.go(walk.enter_with_field(at, nullptr));
  walk.at_ = &at + 1;
  walk.go(walk.enter_with_field(*walk.at_, nullptr));
  --walk.running_;
  return &at + 2;
}

const Instruction* Walk::return_to_caller(Walk& walk, const Instruction& at) {
  Slot* const frame = walk.context_.frame;
  const Slot::Link link = frame[-1].link;
  const Instruction& call = *link.call;
  walk.context_.frame -= call.count;
  for (std::int32_t i = 0; i < at.count; ++i) walk.out(call, i) = slot_at(frame, at.in[i]);
  return link.back;
}

const Instruction* Walk::finish(Walk& walk, const Instruction& at) {
  for (std::int32_t i = 0; i < at.count; ++i) walk.results[static_cast<std::size_t>(i)] = walk.in(at, i);
  return nullptr;
}

std::string Walk::place_of_error(const void* input, const void* refused) const {
  const auto address_in_slot = [](const Slot& slot) {  // that of an input, if the slot holds one
    const void* address = nullptr;
    std::memcpy(&address, &slot, sizeof(address));
    return address;
  };
  // What was refused, what the instruction reads, and what each procedure around it was called with.
  Slot* frame = context_.frame;
  std::vector<const void*> wanted{refused};
  if (at_ != nullptr)
    for (std::int32_t i = 0; i < code_.reads[static_cast<std::size_t>(at_ - code_.instructions.data())]; ++i)
      wanted.push_back(address_in_slot(slot_at(frame, at_->in[i])));
  const std::size_t read = wanted.size();
  for (; frame != stack_.data(); frame -= frame[-1].link.call->count) wanted.push_back(address_in_slot(frame[0]));
  try {
    return place_in_data(*code_.input, input, wanted, read, code_.members);
  } catch (const std::exception&) {  // by a function of the user that reads a part
    return "";
  }
}

void Walk::rethrow(const void* input, std::int64_t instance) const {
  std::string label;
  std::string path_line;
  if (at_ != nullptr) {
    label = code_.labels[static_cast<std::size_t>(at_ - code_.instructions.data())] + ": ";
    if (const std::string path = code_.path(at_->path); !path.empty()) path_line = "\n  in " + path;
  }
  const auto more = [&](const void* refused = nullptr) {
    const std::string place = place_of_error(input, refused);
    return fmt::format("{}\n  in instance {}{}{}", path_line, instance, place.empty() ? "" : ": ", place);
  };
  try {
    throw;
  } catch (const RefusedData& error) {
    throw DataError(label + error.what() + more(error.object()));
  } catch (const DataError& error) {
    throw DataError(label + error.what() + more());
  } catch (const ResourceError& error) {
    throw ResourceError(error.what() + more());
  } catch (const InternalError& error) {
    throw InternalError(error.what() + more());
  } catch (const CellError& error) {
    throw CellError(error.what() + more());
  } catch (const UsageError& error) {
    std::string sentence = error.what();  // an op that refuses a row or a label names the instance, too
    if (const std::string last = fmt::format(", in instance {}", instance); sentence.ends_with(last))
      sentence.resize(sentence.size() - last.size());
    throw UsageError(sentence + more());
  } catch (const std::exception& error) {
    std::throw_with_nested(DataError(label + "the function throws: " + error.what() + more()));
  }
}

}  // namespace espalier::blocks
