/// From a KeptInstance to the records of a graph.
#include <algorithm>

#include "espalier/graph/kept_instance.h"

namespace espalier {

class InstanceWriter {
 public:
  InstanceWriter(Graph& graph, std::uint64_t recordings, const KeptKinds& kinds,
                 const std::shared_ptr<const void>& kept)
      : graph_(graph), here_(kinds_in(graph, recordings, kept)) {
    if (here_.signature_epoch != graph.signature_epoch_) {
      here_.signatures.clear();
      here_.signature_epoch = graph.signature_epoch_;
    }
    if (here_.epoch == graph.epoch_) return;
    here_.shared.clear();
    here_.epoch = graph.epoch_;
    for (auto& [uid, sentence] : kinds.notes())
      if (!graph.has_note(uid)) graph.add_note(uid, sentence);
  }

  bool write(const KeptInstance& instance, std::vector<Expr>& outputs) {
    for (const KeptShared* shared : instance.shared) {
      if (!is_of_its_type(*shared)) return false;
      shared_.push_back(node_of(*shared));
    }
    // Without random ops the graph is not to believe that there are some.
    const std::uint32_t first = graph_.random_ops_;
    if (instance.random_ops > 0) graph_.next_random_places(instance.random_ops);
    nodes_.reserve(instance.nodes.size());
    for (const KeptInstance::Node& node : instance.nodes) {
      const std::byte* const fields = instance.fields.data() + node.fields;
      const std::span<const std::int32_t> inputs = std::span(instance.inputs).subspan(node.first_input, node.inputs);
      nodes_.push_back(append(node, inputs, fields));
      if (node.kind->info->random) place(nodes_.back(), first + node.first_random);
    }
    for (const std::int32_t output : instance.outputs) outputs.push_back(graph_.expr(node_at(output)));
    return true;
  }

 private:
  static ReplayedKinds& kinds_in(Graph& graph, std::uint64_t recordings, const std::shared_ptr<const void>& kept) {
    for (ReplayedKinds& known : graph.replayed_)
      if (known.recordings == recordings) return known;
    ReplayedKinds& added = graph.replayed_.emplace_back();
    added.recordings = recordings;
    added.kept = kept;
    return added;
  }

  NodeId node_at(std::int32_t code) const {
    const std::int32_t number = code >= 0 ? code : ~code;
    return (code >= 0 ? nodes_ : shared_)[static_cast<std::size_t>(number)];
  }

  // --- parameters, and what is derived -------------------------------------------------------------------------------

  static bool is_of_its_type(const KeptShared& shared) {
    const Parameter* const parameter = shared.parameter;
    if (parameter != nullptr && !parameter->is_destroyed())
      return parameter->value().dtype() == shared.type.dtype && parameter->shape() == shared.type.shape;
    return std::all_of(shared.from.begin(), shared.from.end(),
                       [](const KeptShared* from) { return is_of_its_type(*from); });
  }

  NodeId node_of(const KeptShared& shared) {
    if (here_.shared.size() <= shared.number) here_.shared.resize(shared.number + 1, kNotYet);
    if (here_.shared[shared.number] == kNotYet) {
      const NodeId node =
          shared.parameter != nullptr ? graph_.record_parameter(*shared.parameter).node() : derive(shared);
      here_.shared[shared.number] = node;
    }
    return here_.shared[shared.number];
  }

  NodeId derive(const KeptShared& shared) {
    std::vector<Expr> from;
    for (const KeptShared* each : shared.from) from.push_back(graph_.expr(node_of(*each)));
    const Expr derived = graph_.derived(shared.uid, [&](Graph&) {
      std::vector<Expr> steps;
      for (const KeptShared::Step& step : shared.steps) {
        std::vector<Expr> operands;
        for (const std::int32_t input : step.inputs) {
          const std::int32_t number = input >= 0 ? input : ~input;
          operands.push_back((input >= 0 ? steps : from)[static_cast<std::size_t>(number)]);
        }
        steps.push_back(record(*step.info, step.attrs.data(), step.fields.data(), operands, step.where));
      }
      return steps.back();
    });
    return derived.node();
  }

  Expr record(const OpInfo& info, const void* attrs, const void* fields, const std::vector<Expr>& operands,
              SourceLine where, std::int32_t rows = Recorder::kSingle) {
    if (operands.empty()) return graph_.record_leaf(info, attrs, fields, where);
    if (info.takes_any_number()) return graph_.record(info, attrs, fields, Operands(std::span(operands), where));
    OperandList list;
    for (const Expr& operand : operands) list.push_back({operand, where});
    const std::span<const Operand> all(list);
    return rows == Recorder::kSingle ? graph_.record(info, attrs, fields, all)
                                     : graph_.record_rows(info, attrs, fields, rows, all);
  }

  // --- nodes ---------------------------------------------------------------------------------------------------------

  /// The first of its kind is recorded as by its op, and checked; all others are like it.
  NodeId append(const KeptInstance::Node& node, std::span<const std::int32_t> inputs, const std::byte* fields) {
    const KindOfNode& kind = *node.kind;
    const std::int32_t rows = inputs.empty() ? Recorder::kSingle : node.rows;
    if (here_.signatures.size() <= kind.number) here_.signatures.resize(kind.number + 1, kNoSignature);
    const SignatureId signature = here_.signatures[kind.number];
    NodeId result{};
    if (signature == kNoSignature || node.is_shared) {
      operands_.clear();
      for (const std::int32_t input : inputs) operands_.push_back(graph_.expr(node_at(input)));
      result = record(*kind.info, kind.attrs.data(), fields, operands_, node.where, rows).node();
      here_.signatures[kind.number] = graph_.signature_id(result);
    } else {
      NodeId* const to = graph_.room_for_inputs(inputs.size());
      for (std::size_t i = 0; i < inputs.size(); ++i) to[i] = node_at(inputs[i]);
      result = graph_.append_known(signature, inputs.size(), fields, kNoInstance, node.where, rows, rows);
    }
    graph_.head_[Recorder::at(result)].rows = node.rows;
    graph_.any_many_ |= node.rows != Recorder::kSingle;
    return result;
  }

  void place(NodeId node, std::uint32_t first) {
    std::byte* const fields = graph_.fields_.data() + graph_.begin_[Recorder::at(node)].fields;
    graph_.signature(node).info->place_rows(fields, graph_.rows(node), graph_.options().seed, graph_.step(),
                                            graph_.instance_key_, first);
  }

  static constexpr SignatureId kNoSignature{-1};
  static constexpr NodeId kNotYet{-1};

  Graph& graph_;
  ReplayedKinds& here_;
  std::vector<NodeId> nodes_;
  std::vector<NodeId> shared_;
  std::vector<Expr> operands_;
};

bool write_instance(Graph& graph, const KeptInstance& instance, std::uint64_t recordings, const KeptKinds& kinds,
                    const std::shared_ptr<const void>& kept, std::vector<Expr>& outputs) {
  return InstanceWriter(graph, recordings, kinds, kept).write(instance, outputs);
}

}  // namespace espalier
