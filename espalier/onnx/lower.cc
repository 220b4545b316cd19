#include "espalier/onnx/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/exec/parameter_versions.h"
#include "espalier/graph/leaf.h"
#include "espalier/onnx/emissions.h"

namespace espalier::onnx {
namespace {

/// Nodes that are there already, by what they are.
class KnownNodes {
 public:
  /// The node that equals the last one of the list, or -1; then the last one is known from now on.
  std::int32_t find_or_add(const NodeList& list) {
    const auto last = static_cast<std::int32_t>(list.signatures.size()) - 1;
    const auto [begin, end] = by_hash_.equal_range(hash(list, last));
    for (auto other = begin; other != end; ++other)
      if (equal(list, other->second, last)) return other->second;
    by_hash_.emplace(hash(list, last), last);
    return -1;
  }

 private:
  static std::span<const std::int32_t> operands(const NodeList& list, std::int32_t node) {
    const std::int64_t begin = node == 0 ? 0 : list.operand_ends[at(node - 1)];
    return std::span(list.operands).subspan(at(begin), at(list.operand_ends[at(node)] - begin));
  }
  static std::uint64_t hash(const NodeList& list, std::int32_t node) {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;
    std::uint64_t state = static_cast<std::uint64_t>(list.signatures[at(node)]) * kFactor;
    state = (state ^ static_cast<std::uint64_t>(list.fields[at(node)])) * kFactor;
    for (const std::int32_t operand : operands(list, node))
      state = (state ^ static_cast<std::uint64_t>(operand) ^ state >> 29) * kFactor;
    return state ^ state >> 32;
  }
  static bool equal(const NodeList& list, std::int32_t a, std::int32_t b) {
    return list.signatures[at(a)] == list.signatures[at(b)] && list.fields[at(a)] == list.fields[at(b)] &&
           std::ranges::equal(operands(list, a), operands(list, b));
  }

  std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
};

/// Signatures of a graph's nodes: each is asked for once.
class KnownSignatures {
 public:
  KnownSignatures(const Graph& graph, const FindSignature& find) : graph_(graph), find_(find) {}

  const KnownSignature& of(NodeId node) {
    const auto [place, is_new] = by_id_.try_emplace({index_of(graph_.signature_id(node)), -1});
    if (is_new) place->second = find_(body_of(graph_, node));
    return place->second;
  }
  const KnownSignature& of(NodeId node, std::int32_t kind, const RecursionView& recursion) {
    const auto [place, is_new] = by_id_.try_emplace({index_of(graph_.signature_id(node)), kind});
    if (is_new) place->second = find_(recursion.body(kind));
    return place->second;
  }
  const KnownSignature& of_rows(const Shape& shape) {
    const auto [place, is_new] = rows_.try_emplace(shape.elements());
    if (is_new) place->second = find_(row_body(shape));
    return place->second;
  }
  const KnownSignature& of_shared(NodeId node) {
    const auto [place, is_new] = shared_.try_emplace(index_of(node));
    if (is_new) place->second = find_(shared_body(graph_, node));
    return place->second;
  }

 private:
  const Graph& graph_;
  const FindSignature& find_;
  std::map<std::pair<std::int32_t, std::int32_t>, KnownSignature> by_id_;  // and by kind
  std::map<std::int64_t, KnownSignature> rows_;
  std::map<std::int32_t, KnownSignature> shared_;
};

class Lowering {
 public:
  Lowering(const Graph& graph, std::size_t outputs, KnownSignatures& signatures)
      : graph_(graph), signatures_(signatures), begin_(at(graph.size()), kNotYet) {
    list_.outputs.resize(outputs);
  }

  /// What an instance needs and is not there yet, in ascending order; and at most how many nodes that becomes.
  std::int64_t collect(const Instance& instance) {
    pending_.clear();
    std::vector<NodeId> open;
    for (const Expr& output : instance) open.push_back(output.node());
    std::int64_t rows = 0;
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      if (begin_[at(node)] != kNotYet) continue;
      begin_[at(node)] = kPending;
      pending_.push_back(node);
      rows += graph_.rows(node);
      for (const NodeId input : graph_.inputs(node)) open.push_back(input);
    }
    std::sort(pending_.begin(), pending_.end());
    return rows;
  }
  void give_up_collected() {
    for (const NodeId node : pending_) begin_[at(node)] = kNotYet;
  }
  void add(const Instance& instance) {
    for (const NodeId node : pending_) lower_node(node);
    for (std::size_t k = 0; k < instance.size(); ++k)
      for (std::int64_t r = 0; r < graph_.rows(instance[k].node()); ++r)
        list_.outputs[k].push_back(value_of(instance[k].node(), r));
  }
  std::int64_t nodes() const { return std::ssize(list_.signatures); }
  NodeList take() { return std::move(list_); }

 private:
  static constexpr std::int64_t kNotYet = -1;
  static constexpr std::int64_t kPending = -2;

  std::int32_t value_of(NodeId node, std::int64_t row) {
    if (graph_.shared(node)) return shared_row(node);
    return values_[at(begin_[at(node)] + (graph_.is_many(node) ? row : 0))];
  }

  /// Opens a node; then operands are added, and finish() gives its first value.
  void start(const KnownSignature& signature, std::int64_t field) {
    list_.signatures.push_back(signature.number);
    list_.fields.push_back(field);
    results_ = signature.results;
  }
  std::int32_t finish() {
    list_.operand_ends.push_back(std::ssize(list_.operands));
    if (const std::int32_t known = known_.find_or_add(list_); known >= 0) {
      list_.operand_ends.pop_back();
      list_.operands.resize(list_.operand_ends.empty() ? 0 : at(list_.operand_ends.back()));
      list_.signatures.pop_back();
      list_.fields.pop_back();
      return first_value_[at(known)];
    }
    first_value_.push_back(made_);
    made_ += results_;
    return first_value_.back();
  }

  std::int32_t shared_row(NodeId node) {
    const auto [place, is_new] = shared_rows_.try_emplace(index_of(node));
    if (!is_new) return place->second;
    start(signatures_.of_shared(node), 0);
    return place->second = finish();
  }
  /// A row of input data. Rows of zeros, which missing children are, are one.
  std::int32_t input_row(const Shape& shape, const float* data) {
    const std::int64_t width = shape.elements();
    const bool is_zero = std::all_of(data, data + width, [](float x) { return x == 0 && !std::signbit(x); });
    std::vector<float>& rows = list_.rows[width];
    if (is_zero)
      if (const auto known = zeros_.find(width); known != zeros_.end()) return known->second;
    start(signatures_.of_rows(shape), std::ssize(rows) / width);
    rows.insert(rows.end(), data, data + width);
    const std::int32_t value = finish();
    if (is_zero) zeros_.emplace(width, value);
    return value;
  }
  std::int32_t zero_row(const Shape& shape) {
    const std::vector<float> zeros(at(shape.elements()));
    return input_row(shape, zeros.data());
  }

  void lower_node(NodeId node) {
    begin_[at(node)] = std::ssize(values_);
    if (graph_.shared(node)) return;
    const OpInfo& info = *graph_.signature(node).info;
    if (info.kind == Kind::kResult) return lower_result(node, info.result);
    require_exportable(graph_, node);
    if (info.kind == Kind::kLeaf) return lower_input(node);
    if (RecursionView::is_recursion(graph_, node)) return lower_recursion(node);
    if (info.row_an_operand) return lower_gathered(node);
    const bool is_row = info.kind != Kind::kCell && emission_of(info).form == Emission::Form::kRow;
    for (std::int64_t r = 0; r < graph_.rows(node); ++r) {
      if (is_row && info.takes_whole)
        values_.push_back(value_of(graph_.inputs(node)[0], field_of<std::int32_t>(node, r)));
      else
        values_.push_back(lower_row(node, info, r));
    }
  }
  void lower_result(NodeId node, std::int32_t result) {
    const NodeId cell = graph_.inputs(node)[0];
    for (std::int64_t r = 0; r < graph_.rows(node); ++r) values_.push_back(value_of(cell, r) + result);
  }
  void lower_input(NodeId node) {
    const auto* data = reinterpret_cast<const float*>(exec::leaf_value(graph_, node));
    const Type& type = graph_.type(node);
    for (std::int64_t r = 0; r < graph_.rows(node); ++r)
      values_.push_back(input_row(type.shape, data + r * type.elements));
  }
  void lower_gathered(NodeId node) {
    for (const NodeId input : graph_.inputs(node))
      for (std::int64_t r = 0; r < graph_.rows(input); ++r) {
        const std::int32_t value = value_of(input, r);
        values_.push_back(value);
      }
  }

  template <class T>
  T field_of(NodeId node, std::int64_t r) const {
    T value{};
    std::memcpy(&value, graph_.fields(node, r), sizeof(T));
    return value;
  }
  std::int64_t field(NodeId node, const OpInfo& info, std::int64_t r) {
    if (info.kind == Kind::kCell) {
      if (info.field_bytes > 0)
        throw UsageError(fmt::format(
            "onnx: the cell \"{}\" cannot be exported: it draws random numbers; record it outside of training",
            info.name));
      return 0;
    }
    const Field kind = emission_of(info).field;
    if (kind == Field::kIndex) return field_of<std::int32_t>(node, r);
    if (kind != Field::kNumber) return 0;
    const auto number = static_cast<float>(field_of<double>(node, r));
    const auto [place, is_new] = numbers_.try_emplace(number, std::ssize(list_.numbers));
    if (is_new) list_.numbers.push_back(number);
    return place->second;
  }

  std::int32_t lower_row(NodeId node, const OpInfo& info, std::int64_t r) {
    // Rows of shared nodes are nodes of their own, which must not begin within this one.
    operands_.clear();
    const std::span<const NodeId> inputs = graph_.inputs(node);
    if (info.name == "join_rows") {
      const std::int32_t count = *static_cast<const std::int32_t*>(graph_.attrs(node));
      for (std::int32_t k = 0; k < count; ++k)
        operands_.push_back(value_of(inputs[0], field_of<std::int32_t>(node, r) + k));
    } else if (info.is_ragged()) {
      for (const NodeId input : inputs)
        for (std::int64_t k = 0; k < graph_.rows(input); ++k) operands_.push_back(value_of(input, k));
    } else {
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!(info.by_identity(i) && graph_.shared(inputs[i]))) operands_.push_back(value_of(inputs[i], r));
    }
    const std::int64_t its_field = field(node, info, r);
    start(signatures_.of(node), its_field);
    list_.operands.insert(list_.operands.end(), operands_.begin(), operands_.end());
    return finish();
  }

  void lower_recursion(NodeId node) {
    const RecursionView view(graph_, node);
    const std::int32_t count = graph_.rows(node);
    std::vector<std::int32_t> order(at(count));
    for (std::int32_t r = 0; r < count; ++r) order[at(r)] = r;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return view.row(a).height < view.row(b).height; });
    values_.resize(values_.size() + at(count));
    const std::int64_t begin = begin_[at(node)];
    std::map<std::int32_t, std::vector<RecursionView::Source>> sources;
    for (const std::int32_t r : order) {
      const RecursionView::Row row = view.row(r);
      const auto [of_kind, is_new] = sources.try_emplace(row.kind);
      if (is_new) of_kind->second = view.sources(row.kind);
      operands_.clear();
      for (const RecursionView::Source& source : of_kind->second) {
        const std::int32_t child = source.child < 0 ? 0 : row.children[at(source.child)];
        if (source.child < 0)
          operands_.push_back(value_of(graph_.inputs(node)[0], row.x));
        else if (child < 0)
          operands_.push_back(zero_row(view.state(at(source.part))));
        else
          operands_.push_back(values_[at(begin + child)] + source.part);
      }
      start(signatures_.of(node, row.kind, view), 0);
      list_.operands.insert(list_.operands.end(), operands_.begin(), operands_.end());
      values_[at(begin + r)] = finish();
    }
  }

  const Graph& graph_;
  KnownSignatures& signatures_;
  NodeList list_;
  KnownNodes known_;
  std::vector<std::int64_t> begin_;        // by node of the graph: where its values begin
  std::vector<std::int32_t> values_;       // of its rows; of a cell, the first result
  std::vector<std::int32_t> first_value_;  // by node of the list
  std::int32_t made_ = 0;                  // values so far
  std::int32_t results_ = 1;               // of the node that is open
  std::vector<NodeId> pending_;
  std::vector<std::int32_t> operands_;
  std::unordered_map<std::int32_t, std::int32_t> shared_rows_;
  std::unordered_map<std::int64_t, std::int32_t> zeros_;
  std::unordered_map<float, std::int64_t> numbers_;
};

void require_fitting(const Graph& graph, const Instance& instance, std::int64_t i, std::size_t outputs) {
  if (instance.size() != outputs)
    throw UsageError(fmt::format("onnx: instance {} has {} outputs, and the file has {}", i, instance.size(), outputs));
  for (const Expr& output : instance)
    if (!graph.owns(output)) throw UsageError(fmt::format("onnx: instance {} belongs to another graph", i));
}

}  // namespace

void lower(std::span<const Instance> instances, std::size_t outputs, std::int64_t most, const FindSignature& find,
           const TakeNodes& take) {
  if (instances.empty()) return;
  if (instances[0].empty()) throw UsageError("onnx: instance 0 has no outputs");
  const Graph& graph = instances[0][0].graph();
  KnownSignatures signatures(graph, find);
  std::optional<Lowering> lowering;
  std::int64_t first = 0;
  const auto close = [&](std::int64_t end) {
    if (end > first) take(lowering->take(), first, end - first);
    lowering.emplace(graph, outputs, signatures);
    first = end;
  };
  close(0);
  for (std::int64_t i = 0; i < std::ssize(instances); ++i) {
    const Instance& instance = instances[at(i)];
    require_fitting(graph, instance, i, outputs);
    if (lowering->nodes() + lowering->collect(instance) > most && i > first) {
      lowering->give_up_collected();
      close(i);
      lowering->collect(instance);
    }
    lowering->add(instance);
    if (lowering->nodes() > most)
      throw UsageError(
          fmt::format("onnx: instance {} alone has {} nodes, and a call can have {}", i, lowering->nodes(), most));
  }
  close(std::ssize(instances));
}

}  // namespace espalier::onnx
