#include "espalier/blocks/collect_blocks.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/collect.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/walk.h"
#include "espalier/ops/reshape.h"
#include "espalier/ops/scale.h"

namespace espalier::blocks {
namespace {

/// The number of the channel with this name, a new one if there is none.
std::int32_t channel_of(std::vector<Channel>& channels, const Channel& wanted, const std::string& kind) {
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Channel& known = channels[i];
    if (known.name != wanted.name) continue;
    if (known.type != wanted.type)
      throw UsageError(fmt::format("{} \"{}\": its type is {} in one place and {} in another", kind, wanted.name,
                                   known.type.to_text(), wanted.type.to_text()));
    if (known.weight != wanted.weight)
      throw UsageError(fmt::format("{} \"{}\": its weight is {} in one place and {} in another", kind, wanted.name,
                                   known.weight, wanted.weight));
    return static_cast<std::int32_t>(i);
  }
  channels.push_back(wanted);
  return static_cast<std::int32_t>(std::ssize(channels)) - 1;
}

/// `number` is the channel, `count` the slots of a value.
template <std::vector<Walk::Collected> Walk::*list>
void collect(Walk& walk, const Instruction& at) {
  (walk.*list).push_back({at.number, walk.collected.size()});
  for (std::int32_t i = 0; i < at.count; ++i) walk.collected.push_back(walk.in(at, i));
}

template <std::vector<Walk::Collected> Walk::*list>
void emit_collect(Emitter& to, std::int32_t channel, const Registers& value) {
  const std::int32_t at = to.native<&collect<list>>(value, {});
  to.instruction(at).number = channel;
  to.instruction(at).count = static_cast<std::int32_t>(value.size());
}

void collect_loss(Walk& walk, const Instruction& at) { walk.add_loss(walk.in(at, 0).expr); }

struct WeightedLoss {
  double weight;
  bool is_number;  // of rank 0 as it is
  SourceLine where;
};

void collect_weighted_loss(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const WeightedLoss*>(at.data);
  const Operand loss(walk.in(at, 0).expr, spec.where);
  const Expr number = spec.is_number ? loss.expr() : reshape(loss, {});
  walk.add_loss(spec.weight == 1 ? number : scale(loss.at(number), spec.weight));
}

class MetricNode : public BlockNode {
 public:
  explicit MetricNode(std::string channel) : channel_(std::move(channel)) {}

  std::string label() const override { return fmt::format("metric(\"{}\")", channel_); }
  void infer(Inference& types) override {
    types.output_is(*this, types.nothing());
    if (!types.look_whole(in, *this)) return;
    const Type given = type_of(in);
    const bool labelled = given.is(Type::Kind::kTuple) && given.items().size() == 2 &&
                          given.items()[0].is(Type::Kind::kTensor) && given.items()[1].is(Type::Kind::kInput);
    if (!labelled && !given.is(Type::Kind::kTensor))
      types.refuse_kind(*this, in, "a tensor, or the pair (tensor, label)");
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers*) override {
    const Type type = type_of(in);
    emit_collect<&Walk::metrics>(
        to, channel_of(to.code().metrics, {channel_, type, type.is(Type::Kind::kTuple), 1}, "metric"), in_registers);
    return {};
  }

 private:
  std::string channel_;
};

class LossNode : public BlockNode {
 public:
  LossNode(std::string channel, double weight) : channel_(std::move(channel)), weight_(weight) {}

  std::string label() const override { return fmt::format("loss(\"{}\")", channel_); }
  void infer(Inference& types) override {
    types.output_is(*this, types.nothing());
    Term* given = types.look(in, *this);
    if (given->is(Term::Kind::kUnknown)) return;
    if (!given->is(Term::Kind::kTensor) || given->shape.elements() != 1)
      types.refuse_kind(*this, given, "a tensor of one element");
  }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers*) override {
    const Type type = type_of(in);
    channel_of(to.code().losses, {channel_, type, false, weight_}, "loss");
    const bool is_number = type.shape().rank() == 0;
    if (is_number && weight_ == 1)
      to.native<&collect_loss>(in_registers, {});
    else
      to.native<&collect_weighted_loss>(in_registers, {}, to.own(WeightedLoss{weight_, is_number, where}));
    return {};
  }

 private:
  std::string channel_;
  double weight_;
};

class TapNode : public BlockNode {
 public:
  explicit TapNode(std::string channel) : channel_(std::move(channel)) {}

  std::string label() const override { return fmt::format("tap(\"{}\")", channel_); }
  void infer(Inference& types) override { types.equal(*this, in, "it is given", out, "its output must be"); }
  Registers emit(Emitter& to, const Registers& in_registers, const Registers*) override {
    emit_tap(to, channel_, type_of(in), in_registers);
    return in_registers;
  }

 private:
  std::string channel_;
};

}  // namespace

void emit_tap(Emitter& to, const std::string& name, const Type& type, const Registers& value) {
  emit_collect<&Walk::taps>(to, channel_of(to.code().taps, {name, type, false, 1}, "tap"), value);
}

Block metric(std::string name, const char* file, std::int32_t line) {
  return make_block<MetricNode>({file, line}, {}, std::move(name));
}

Block loss(std::string name, double weight, const char* file, std::int32_t line) {
  return make_block<LossNode>({file, line}, {}, std::move(name), weight);
}

Block tap(std::string name, const char* file, std::int32_t line) {
  return make_block<TapNode>({file, line}, {}, std::move(name));
}

}  // namespace espalier::blocks
