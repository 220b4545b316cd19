#include "espalier/blocks/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "espalier/blocks/code.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/inference.h"
#include "espalier/blocks/model_copy.h"
#include "espalier/blocks/root_input.h"
#include "espalier/blocks/walk.h"
#include "espalier/ops/scale.h"
#include "espalier/ops/sum.h"

namespace espalier::blocks {
namespace {

void require_known(const BlockNode& node, SourceLine where) {
  for (const auto& [term, which] : {std::pair{node.in, "input"}, std::pair{node.out, "output"}})
    if (!is_known(term))
      throw UsageError(
          fmt::format("{}: the type of its {} cannot be worked out; known so far: {}\n"
                      "  hint: say it with takes(type) or gives(type){}\n  made at {}\n  at {}",
                      node.title(), which, to_text(term), path_line(node), node.where.to_string(), where.to_string()));
}

/// Finds all types of a model for data of type `input`.
void bind_types(const ModelCopy& model, const InputType& input, SourceLine where) {
  Inference types(*model.pool, where);
  bind_root_input(types, model.root(), model.root().in, input);
  for (BlockNode* node : model.nodes) {
    node->check();
    if (node->ignores_input() && resolve(node->in)->is(Term::Kind::kUnknown)) {
      types.equal(*node, node->in, "it takes", types.nothing(), "is given");
      types.run(*node);
    }
  }
  for (const BlockNode* node : model.nodes) require_known(*node, where);
}

template <class Entry>
std::vector<Entry> of_name(const std::vector<Entry>& entries, std::string_view name) {
  std::vector<Entry> result;
  for (const Entry& entry : entries)
    if (entry.name == name) result.push_back(entry);
  return result;
}

Result computed(const Output& output) {
  return output.transformed([](const Expr& leaf) { return leaf.value(); });
}

}  // namespace

std::vector<Recording::Entry> Recording::metric(std::string_view name) const { return of_name(metrics, name); }
std::vector<Recording::Entry> Recording::tap(std::string_view name) const { return of_name(taps, name); }

std::vector<InstanceResult::Entry> InstanceResult::metric(std::string_view name) const {
  return of_name(metrics, name);
}
std::vector<InstanceResult::Entry> InstanceResult::tap(std::string_view name) const { return of_name(taps, name); }

void refuse_loss(const std::string& why) { throw UsageError("program: cannot compute a loss: " + why); }

Program::Program(const BlockArg& block, const ProgramOptions& options) : Program(block, nullptr, options) {}

Program::Program(const BlockArg& block, const InputType* input, const ProgramOptions& options)
    : block_(block.block()), where_(block.where()), input_(input) {
  if (input_ == nullptr) {
    Term* wanted = resolve(block_.node()->in);
    input_ = wanted->is(Term::Kind::kInput) ? wanted->input : &input_type<Value>();
  }
  const ModelCopy model = copy_model(*block_.node());
  bind_types(model, *input_, where_);
  auto code = std::make_shared<Code>();
  Emitter emitter(*code, options.watch);
  emitter.emit_root(model.root(), *input_);
  for (const std::string& name : options.watch)
    if (std::none_of(code->taps.begin(), code->taps.end(),
                     [&](const Channel& tap) { return tap.name == name || tap.name.ends_with(" / " + name); }))
      throw UsageError(fmt::format("program: no block is named \"{}\"\n  at {}", name, where_.to_string()));
  code_ = std::move(code);
  block_input_type_ = type_of(model.root().in);
  output_type_ = type_of(model.root().out);
}

Type Program::input_type_of_data() const { return Type::input(*input_); }

void Program::require_type(const InputType& given) const {
  if (&given != input_)
    throw UsageError(
        fmt::format("program: it was compiled for data of type {}, but is given {}\n"
                    "  hint: Program::of<T>(block) compiles a block for data of type T",
                    input_->name, given.name));
}

Output Program::record_one(Graph& graph, const void* input) const {
  Walk walk(*code_);
  walk.run(graph, input, std::max(graph.instances() - 1, 0));
  const Slot* slots = walk.results.data();
  return read_output(output_type_, slots, walk.keep);
}

Recording Program::record_many(Graph& graph, const std::vector<const void*>& inputs,
                               const InstanceOptions& options) const {
  Walk walk(*code_);
  Recording recording;
  const auto entries = [&](const std::vector<Walk::Collected>& from, const std::vector<Channel>& channels,
                           std::int64_t instance, std::vector<Recording::Entry>& to) {
    for (const Walk::Collected& each : from) {
      const Channel& channel = channels[static_cast<std::size_t>(each.channel)];
      const Slot* slots = walk.collected.data() + each.first;
      Output value = read_output(channel.type, slots, walk.keep);
      if (channel.labelled)
        to.push_back({channel.name, instance, value[0], value[1]});
      else
        to.push_back({channel.name, instance, std::move(value), {}});
    }
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int64_t number = options.first_number + static_cast<std::int64_t>(i);
    if (options.first_key)
      graph.begin_instance(*options.first_key + i);
    else
      graph.begin_instance();
    walk.forget_collected();
    walk.run(graph, inputs[i], number);
    const Slot* slots = walk.results.data();
    recording.outputs.push_back(read_output(output_type_, slots, walk.keep));
    entries(walk.metrics, code_->metrics, number, recording.metrics);
    entries(walk.taps, code_->taps, number, recording.taps);
  }
  if (!walk.losses().empty()) recording.loss = sum(Operands(walk.losses(), where_));
  return recording;
}

std::optional<Expr> Program::sum_of_losses(Graph& graph, const std::vector<const void*>& inputs,
                                           const InstanceOptions& options) const {
  if (inputs.empty()) refuse_loss("there are no inputs");
  if (code_->losses.empty()) refuse_loss("the model has no loss() block");
  Walk walk(*code_);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (options.first_key)
      graph.begin_instance(*options.first_key + i);
    else
      graph.begin_instance();
    walk.forget_collected();
    walk.run(graph, inputs[i], options.first_number + static_cast<std::int64_t>(i));
  }
  if (walk.losses().empty()) return std::nullopt;
  return sum(Operands(walk.losses(), where_));
}

Expr Program::loss_of(Graph& graph, const std::vector<const void*>& inputs, const InstanceOptions& options) const {
  const std::optional<Expr> total = sum_of_losses(graph, inputs, options);
  if (!total) refuse_loss("the inputs reach no loss() block");
  return scale(Operand(*total, where_), 1 / static_cast<double>(inputs.size()));
}

std::vector<InstanceResult> Program::compute_many(const std::vector<const void*>& inputs,
                                                  const GraphOptions& graph_options,
                                                  const InstanceOptions& options) const {
  Graph graph(graph_options);
  const Recording recording = record_many(graph, inputs, options);
  std::vector<Expr> all;
  const auto want = [&](const Output& output) {
    for (const Expr& leaf : output.leaves()) all.push_back(leaf);
  };
  for (const Output& output : recording.outputs) want(output);
  for (const auto* entries : {&recording.metrics, &recording.taps})
    for (const Recording::Entry& entry : *entries) want(entry.value);
  if (!all.empty()) graph.finish(all);
  std::vector<InstanceResult> results;
  for (const Output& output : recording.outputs) results.emplace_back(computed(output));
  const auto give = [&](const std::vector<Recording::Entry>& from,
                        std::vector<InstanceResult::Entry> InstanceResult::*to) {
    for (const Recording::Entry& entry : from)
      (results[static_cast<std::size_t>(entry.instance - options.first_number)].*to)
          .push_back({entry.name, computed(entry.value), computed(entry.label)});
  };
  give(recording.metrics, &InstanceResult::metrics);
  give(recording.taps, &InstanceResult::taps);
  return results;
}

InstanceResult Program::eval_one(const void* input, const GraphOptions& options) const {
  return compute_many({input}, options, {})[0];
}

}  // namespace espalier::blocks
