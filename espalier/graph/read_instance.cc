/// From the records of a graph to a KeptInstance.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "espalier/base/error.h"
#include "espalier/graph/kept_instance.h"
#include "espalier/graph/leaf.h"
#include "espalier/graph/shared_names.h"

namespace espalier {
namespace {

[[noreturn]] void refuse_recording(const std::string& sentence, std::string_view hint) {
  throw UsageError(fmt::format("recordings: {}\n  hint: {}", sentence, hint));
}

void add_words(std::vector<std::uint32_t>& key, std::uint64_t value) {
  key.push_back(static_cast<std::uint32_t>(value));
  key.push_back(static_cast<std::uint32_t>(value >> 32));
}

void add_type(std::vector<std::uint32_t>& key, const Type& type) {
  key.push_back(static_cast<std::uint32_t>(type.dtype));
  key.push_back(static_cast<std::uint32_t>(type.shape.rank()));
  for (std::int32_t axis = 0; axis < type.shape.rank(); ++axis)
    add_words(key, static_cast<std::uint64_t>(type.shape[axis]));
}

}  // namespace

class InstanceReader {
 public:
  InstanceReader(const Graph& graph, const InstanceMark& before, KeptKinds& kinds)
      : graph_(graph), before_(before), kinds_(kinds), kept_(std::make_unique<KeptInstance>()) {}

  static std::uint32_t random_ops(const Graph& graph) { return graph.random_ops_; }

  std::unique_ptr<KeptInstance> read(std::span<const Expr> outputs) {
    if (graph_.instances() != before_.instances)
      refuse_recording("the function began an instance of its own",
                       "call begin_instance() before Recordings::record(), not in its function");
    const auto nodes = static_cast<std::size_t>(graph_.size() - before_.nodes);
    kept_->random_ops = graph_.random_ops_ - before_.random_ops;
    is_drawn_.assign(kept_->random_ops, false);
    local_.assign(nodes, kNone);
    find_needed(nodes, outputs);
    for (std::size_t i = 0; i < nodes; ++i)
      if (is_needed_[i]) read_node(node_at(i));
    for (const Expr& output : outputs) kept_->outputs.push_back(code_of(output.node(), output.node()));
    if (std::find(is_drawn_.begin(), is_drawn_.end(), false) != is_drawn_.end())
      refuse_recording("the function draws random numbers that are in no node it records",
                       "what it records depends on them, as in nn::FractalNet: record it anew every time");
    kinds_.hold(graph_.held_, graph_.notes_);
    return std::move(kept_);
  }

 private:
  static constexpr std::int32_t kNone = -1;

  NodeId node_at(std::size_t i) const { return NodeId{before_.nodes + static_cast<std::int32_t>(i)}; }
  bool is_inside(NodeId node) const { return index_of(node) >= before_.nodes; }
  std::size_t place_of(NodeId node) const { return static_cast<std::size_t>(index_of(node) - before_.nodes); }
  /// Whether it is called by a uid: a parameter, or derived.
  bool has_uid(NodeId node) const { return is_name_of_number(graph_.head_[Recorder::at(node)].shared); }

  /// Of what is made from parameters alone, only what others need: the rest was recorded for what has a uid.
  void find_needed(std::size_t nodes, std::span<const Expr> outputs) {
    is_needed_.assign(nodes, false);
    const auto need = [&](NodeId node) {
      if (is_inside(node) && !has_uid(node)) is_needed_[place_of(node)] = true;
    };
    for (const Expr& output : outputs) need(output.node());
    for (std::size_t i = nodes; i-- > 0;) {
      if (!graph_.shared(node_at(i))) is_needed_[i] = true;
      if (!is_needed_[i]) continue;
      for (NodeId input : graph_.inputs(node_at(i))) need(input);
    }
  }

  void read_node(NodeId node) {
    KeptInstance::Node read;
    const std::span<const NodeId> inputs = graph_.inputs(node);
    read.where = graph_.source(node);
    read.rows = graph_.head_[Recorder::at(node)].rows;
    read.first_input = static_cast<std::uint32_t>(kept_->inputs.size());
    read.inputs = static_cast<std::uint32_t>(inputs.size());
    read.is_shared = graph_.shared(node);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      kept_->inputs.push_back(code_of(inputs[i], node));
      const OpInfo& info = *graph_.signature(node).info;
      read.is_shared |= graph_.shared(inputs[i]) && !has_uid(inputs[i]) && info.by_identity(i);
    }
    read.kind = kind_of(node, read.is_shared);
    read_fields(node, read);
    local_[place_of(node)] = static_cast<std::int32_t>(kept_->nodes.size());
    kept_->nodes.push_back(read);
  }

  /// How an input of `user` is called, or an output.
  std::int32_t code_of(NodeId input, NodeId user) {
    if (has_uid(input)) {
      const KeptShared* const shared = shared_of(input);
      const auto found = std::find(kept_->shared.begin(), kept_->shared.end(), shared);
      const auto number = static_cast<std::int32_t>(found - kept_->shared.begin());
      if (found == kept_->shared.end()) kept_->shared.push_back(shared);
      return ~number;
    }
    if (is_inside(input)) return local_[place_of(input)];
    refuse_recording(fmt::format("{} uses a node that was recorded before: {}  {}", graph_.describe(user),
                                 graph_.describe(input), graph_.source(input).to_string()),
                     "the function must record all it uses but parameters and what Graph::derived() gives");
  }

  // --- kinds ---------------------------------------------------------------------------------------------------------

  std::span<const std::uint32_t> attrs_of(NodeId node) const {
    const SignatureId id = graph_.signature_id(node);
    const auto words = static_cast<std::size_t>(graph_.signature(node).info->attr_words);
    return graph_.signatures().key(id).subspan(1, words);
  }

  /// A node that is recorded anew every time needs no more than its op and attributes.
  const KindOfNode* kind_of(NodeId node, bool is_shared) {
    // A node that is made from parameters alone may have the signature of one that is not.
    const std::size_t signature =
        2 * static_cast<std::size_t>(index_of(graph_.signature_id(node))) + (is_shared ? 1 : 0);
    if (kind_of_signature_.size() <= signature) kind_of_signature_.resize(signature + 1, nullptr);
    if (kind_of_signature_[signature] != nullptr) return kind_of_signature_[signature];
    const OpInfo& info = *graph_.signature(node).info;
    const std::span<const std::uint32_t> attrs = attrs_of(node);
    std::vector<std::uint32_t> key;
    add_words(key, reinterpret_cast<std::uintptr_t>(&info));
    key.insert(key.end(), attrs.begin(), attrs.end());
    key.push_back(is_shared ? 1 : 0);
    const std::span<const NodeId> inputs = graph_.inputs(node);
    if (inputs.empty()) add_type(key, graph_.type(node));
    for (std::size_t i = 0; i < inputs.size() && !is_shared && !(info.is_ragged() && i > 0); ++i)
      if (graph_.shared(inputs[i]) && info.by_identity(i))
        key.push_back(kSharedInput | static_cast<std::uint32_t>(shared_of(inputs[i])->number));
      else
        add_type(key, graph_.type(inputs[i]));
    return kind_of_signature_[signature] = kinds_.kind(std::move(key), &info, attrs);
  }

  const KeptShared* shared_of(NodeId node) {
    const std::uint64_t uid = graph_.parameters_.uid_of(node);
    if (const KeptShared* known = kinds_.find_shared(uid, graph_.type(node))) return known;
    KeptShared shared;
    shared.uid = uid;
    shared.type = graph_.type(node);
    shared.parameter = graph_.parameter_of(node);
    if (shared.parameter == nullptr) read_steps(node, shared);
    return kinds_.add_shared(std::move(shared));
  }

  /// How something was derived.
  void read_steps(NodeId node, KeptShared& shared) {
    std::vector<NodeId> steps{node};
    for (std::size_t next = 0; next < steps.size(); ++next)  // the list is its own queue
      for (NodeId input : graph_.inputs(steps[next]))
        if (!has_uid(input) && std::find(steps.begin(), steps.end(), input) == steps.end()) steps.push_back(input);
    std::sort(steps.begin(), steps.end());
    for (NodeId step : steps) {
      const OpInfo& info = *graph_.signature(step).info;
      const std::span<const std::uint32_t> attrs = attrs_of(step);
      const auto* fields = static_cast<const std::byte*>(graph_.fields(step));
      shared.steps.push_back(
          {&info, {attrs.begin(), attrs.end()}, {fields, fields + info.field_bytes}, graph_.source(step), {}});
      for (NodeId input : graph_.inputs(step)) {
        std::vector<std::int32_t>& inputs = shared.steps.back().inputs;
        if (!has_uid(input)) {
          inputs.push_back(static_cast<std::int32_t>(std::find(steps.begin(), steps.end(), input) - steps.begin()));
          continue;
        }
        inputs.push_back(~static_cast<std::int32_t>(shared.from.size()));
        shared.from.push_back(shared_of(input));
      }
    }
  }

  // --- fields --------------------------------------------------------------------------------------------------------

  void read_fields(NodeId node, KeptInstance::Node& read) {
    const OpInfo& info = *graph_.signature(node).info;
    const bool is_leaf = graph_.inputs(node).empty();
    const std::int32_t rows = is_leaf ? 1 : std::max(read.rows, 1);
    const std::size_t size = static_cast<std::size_t>(info.field_bytes) * static_cast<std::size_t>(rows);
    std::vector<std::byte>& fields = kept_->fields;
    fields.resize((fields.size() + 7) & ~std::size_t{7});
    read.fields = static_cast<std::uint32_t>(fields.size());
    if (size == 0) return;
    const auto* from = static_cast<const std::byte*>(graph_.fields(node));
    fields.insert(fields.end(), from, from + size);
    if (is_leaf) keep_data(node, fields.data() + read.fields);
    if (info.random) read.first_random = find_random(info, rows, {from, size});
  }

  void keep_data(NodeId leaf, std::byte* to) {
    InputFields fields;
    std::memcpy(&fields, to, sizeof(fields));
    if (fields.data == nullptr || Zeros::are_at(fields.data)) return;
    const auto bytes = static_cast<std::size_t>(graph_.bytes(leaf));
    std::byte* const data = kept_->data.allocate(bytes);
    std::memcpy(data, fields.data, bytes);
    fields.data = data;
    std::memcpy(to, &fields, sizeof(fields));
  }

  /// Which random numbers of the recording the fields of a node are made of: those that make the same fields. Nearly
  /// always the next ones.
  std::uint32_t find_random(const OpInfo& info, std::int32_t rows, std::span<const std::byte> fields) {
    std::vector<std::byte> tried(fields.begin(), fields.end());
    for (std::uint32_t n = 0; n < kept_->random_ops; ++n) {
      const std::uint32_t number = (next_random_ + n) % kept_->random_ops;
      info.place_rows(tried.data(), rows, graph_.options().seed, *graph_.step_, graph_.instance_key_,
                      before_.random_ops + number);
      if (!std::equal(tried.begin(), tried.end(), fields.begin())) continue;
      const auto count = static_cast<std::uint32_t>(rows);
      const auto draw = [&](std::uint32_t first) {
        for (std::uint32_t r = 0; r < count && first + r < is_drawn_.size(); ++r) is_drawn_[first + r] = true;
      };
      if (info.place_random != nullptr) draw(number);
      for (const RandomPart& part : info.random_parts) draw(number + part.number * count);
      next_random_ = number;
      return number;
    }
    refuse_recording(fmt::format("the random numbers of {} are not those of its instance", info.name),
                     "record it anew every time");
  }

  const Graph& graph_;
  const InstanceMark& before_;
  KeptKinds& kinds_;
  std::unique_ptr<KeptInstance> kept_;
  std::vector<bool> is_needed_;
  std::vector<std::int32_t> local_;  // by node from the first on: its number among those that are kept
  std::vector<bool> is_drawn_;       // by random number of the recording
  std::uint32_t next_random_ = 0;
  std::vector<const KindOfNode*> kind_of_signature_;  // and by whether it is shared
};

InstanceMark::InstanceMark(const Graph& graph)
    : nodes(graph.size()), instances(graph.instances()), random_ops(InstanceReader::random_ops(graph)) {}

std::unique_ptr<KeptInstance> read_instance(const Graph& graph, const InstanceMark& before,
                                            std::span<const Expr> outputs, KeptKinds& kinds) {
  return InstanceReader(graph, before, kinds).read(outputs);
}

}  // namespace espalier
