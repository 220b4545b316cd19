/// The backward pass of the reference executor.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "espalier/base/denormals.h"
#include "espalier/base/error.h"
#include "espalier/exec/gradients.h"
#include "espalier/exec/node_call.h"
#include "espalier/exec/reference.h"
#include "espalier/ops/plain_step.h"

namespace espalier::exec {
namespace {

std::size_t at(NodeId node) { return static_cast<std::size_t>(index_of(node)); }

/// One backward pass. A node's gradient is null until someone adds to it; the first to do so stores.
class Pass {
 public:
  Pass(Graph& graph, const BackwardOptions& options)
      : graph_(graph), options_(options), values_(Values::of(graph)), call_(graph, values_) {}

  void run(NodeId loss) {
    values_.gradient_memory.clear();
    const std::vector<NodeId> nodes = ancestors(graph_, {&loss, 1}, values_.marks, [](NodeId) { return true; });
    find_needed(nodes);
    gradient_.assign(static_cast<std::size_t>(graph_.size()), nullptr);
    if (needed_[at(loss)] != 0) {
      if (graph_.type(loss).dtype == DType::kFloat32)
        seed<float>(loss);
      else
        seed<double>(loss);
      for (std::size_t i = nodes.size(); i-- > 0;)
        if (gradient_[at(nodes[i])] != nullptr) differentiate_node(nodes[i]);
    }
    pass_on_wanted();
    for (Gradients* gradients : used_) gradients->join_rows();
    keep_wanted();
  }

 private:
  Gradients* gradients_of(const Parameter& parameter) const {
    return options_.into != nullptr ? options_.into : parameter.gradients;
  }

  static constexpr std::uint8_t kLeads = 1;
  static constexpr std::uint8_t kWanted = 2;

  /// A node needs a gradient if it is wanted itself or leads to what is wanted or to a parameter that is not frozen.
  void find_needed(const std::vector<NodeId>& nodes) {
    needed_.assign(static_cast<std::size_t>(graph_.size()), 0);
    for (const Expr& expr : options_.wanted) {
      if (&expr.graph() != &graph_) throw UsageError("backward: a wanted Expr belongs to another graph");
      needed_[at(expr.node())] = kWanted;
    }
    for (NodeId node : nodes) {
      std::uint8_t& needed = needed_[at(node)];
      if (const Parameter* parameter = graph_.parameter_of(node)) {
        require_unchanged(graph_, node, *parameter);
        if (parameter->frozen) continue;
        if (gradients_of(*parameter) == nullptr)
          throw UsageError(
              fmt::format("backward: parameter \"{}\" belongs to no Model; give a Gradients object for its gradient",
                          parameter->name()));
        needed |= kLeads;
      }
      for (NodeId input : graph_.inputs(node))
        if (needed_[at(input)] != 0) needed |= kLeads;
    }
  }

  /// Opens memory for the gradient of `node`; true if it is to be stored into.
  bool open(NodeId node) {
    if (gradient_[at(node)] != nullptr) return false;
    const Parameter* parameter = graph_.parameter_of(node);
    // That of a wanted parameter is gathered by itself: the Gradients may hold those of earlier passes already.
    if (parameter != nullptr && !parameter->frozen && !is_wanted(node)) {
      Gradients* gradients = gradients_of(*parameter);
      use(gradients);
      const Gradients::Dense dense = gradients->dense(*parameter);
      gradient_[at(node)] = dense.data;
      return dense.store;
    }
    gradient_[at(node)] = values_.gradient_memory.allocate(bytes(node));
    return true;
  }

  template <class T>
  void seed(NodeId loss) {
    const bool store = open(loss);
    T& gradient = *reinterpret_cast<T*>(gradient_[at(loss)]);
    gradient = store ? T(1) : gradient + T(1);
  }

  /// Adds the gradients of wanted parameters to where those of parameters go.
  void pass_on_wanted() {
    for (const Expr& expr : options_.wanted) {
      const NodeId node = expr.node();
      const Parameter* parameter = graph_.parameter_of(node);
      if (!is_wanted(node) || gradient_[at(node)] == nullptr || parameter == nullptr || parameter->frozen) continue;
      needed_[at(node)] = kLeads;  // once, though it be listed twice
      Gradients* gradients = gradients_of(*parameter);
      use(gradients);
      const Gradients::Dense to = gradients->dense(*parameter);
      if (to.store)
        std::memcpy(to.data, gradient_[at(node)], bytes(node));
      else if (graph_.type(node).dtype == DType::kFloat32)
        add<float>(to.data, node);
      else
        add<double>(to.data, node);
    }
  }

  template <class T>
  void add(std::byte* to, NodeId node) const {
    auto* sum = reinterpret_cast<T*>(to);
    const auto* gradient = reinterpret_cast<const T*>(gradient_[at(node)]);
    for (std::int64_t i = 0; i < graph_.type(node).elements; ++i) sum[i] += gradient[i];
  }

  std::size_t bytes(NodeId node) const {
    return static_cast<std::size_t>(graph_.type(node).elements) * size_of(graph_.type(node).dtype);
  }

  void use(Gradients* gradients) {
    if (std::find(used_.begin(), used_.end(), gradients) == used_.end()) used_.push_back(gradients);
  }

  void differentiate_node(NodeId node) {
    const OpInfo& info = *graph_.signature(node).info;
    const std::span<const NodeId> inputs = graph_.inputs(node);
    if (inputs.empty()) return;
    if (info.table_row != nullptr) {
      const Parameter* table = graph_.parameter_of(inputs[0]);
      const bool wanted_whole = table != nullptr && is_wanted(inputs[0]);
      if (table != nullptr && needed_[at(inputs[0])] != 0 && !wanted_whole) {
        Gradients* gradients = gradients_of(*table);
        use(gradients);
        gradients->add_row(*table, info.table_row(graph_.fields(node)), gradient_[at(node)]);
        return;
      }
    }

    targets_.clear();
    store_.clear();
    bool all_store = true;
    bool any = false;
    bool repeated = false;
    values_.marks.start(graph_.size());
    for (NodeId input : inputs) {
      repeated |= !values_.marks.set(input);
      if (needed_[at(input)] == 0) {
        targets_.push_back(nullptr);
        store_.push_back(0);
        all_store = false;
        continue;
      }
      any = true;
      const bool store = open(input);
      targets_.push_back(gradient_[at(input)]);
      store_.push_back(store ? 1 : 0);
      all_store = all_store && store;
    }
    if (!any) return;
    call_.open(node);
    if (graph_.type(node).dtype == DType::kFloat64)
      by_plain_code<double>(node);
    else if (graph_.options().execution == Execution::kPlain)
      by_plain_code<float>(node);
    else
      by_kernel(node, all_store && !repeated, repeated);
  }

  /// Where nobody stores, memory to be stored into is zeroed first.
  void zero_unstored() {
    const std::span<const NodeId> inputs = graph_.inputs(current_);
    for (std::size_t i = 0; i < store_.size(); ++i) {
      if (store_[i] == 0) continue;
      std::memset(targets_[i], 0, bytes(inputs[i]));
      store_[i] = 0;
    }
  }

  template <class T>
  void by_plain_code(NodeId node) {
    current_ = node;
    zero_unstored();
    std::vector<std::span<T>> gradients;
    const std::span<const NodeId> inputs = graph_.inputs(node);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      gradients.emplace_back(reinterpret_cast<T*>(targets_[i]),
                             targets_[i] == nullptr ? 0 : static_cast<std::size_t>(graph_.type(inputs[i]).elements));
    ops::plain_gradient<T>(
        graph_.signature(node).info->plain_var, graph_.attrs(node), graph_.fields(node), call_.plain<T>(),
        {reinterpret_cast<const T*>(gradient_[at(node)]), static_cast<std::size_t>(graph_.type(node).elements)},
        gradients);
  }

  void by_kernel(NodeId node, bool all_store, bool repeated) {
    current_ = node;
    const Signature& signature = graph_.signature(node);
    const OpInfo& info = *signature.info;
    const std::int64_t width = graph_.type(node).elements;
    float_targets_.clear();
    std::span<const GradRows> rows;
    if (info.is_ragged()) {
      // One flag for all operands: store if all can, else zero and add. Unwanted ones go to memory nobody reads.
      if (!all_store) zero_unstored();
      for (std::byte*& target : targets_) {
        if (target == nullptr) target = unread(static_cast<std::size_t>(width) * sizeof(float));
        float_targets_.push_back(reinterpret_cast<float*>(target));
      }
      rows = call_.gradients(float_targets_, all_store);
    } else {
      if (repeated) zero_unstored();
      for (std::byte* target : targets_) float_targets_.push_back(reinterpret_cast<float*>(target));
      rows = call_.gradients(float_targets_, std::span<const std::uint8_t>(store_));
    }
    const auto row_at = [](const void* data, std::int64_t of) {
      return ConstRows{static_cast<const float*>(data), 1, of, of, nullptr};
    };
    Grads grads(rows);
    info.backward(graph_.attrs(node),
                  Saved{.in = call_.step(),
                        .y = row_at(values_.value[at(node)], width),
                        .saved = row_at(values_.saved[at(node)], signature.saved),
                        .dy = row_at(gradient_[at(node)], width)},
                  grads);
  }

  std::byte* unread(std::size_t size) {
    if (unread_.size() < size) unread_.resize(size);
    return unread_.data();
  }

  bool is_wanted(NodeId node) const { return (needed_[at(node)] & kWanted) != 0; }

  void keep_wanted() {
    values_.wanted.clear();
    for (const Expr& expr : options_.wanted) {
      const Type& type = graph_.type(expr.node());
      Tensor gradient(type.shape, type.dtype);
      if (const std::byte* data = gradient_[at(expr.node())]) std::memcpy(gradient.data(), data, bytes(expr.node()));
      values_.wanted.push_back({expr.node(), std::move(gradient)});
    }
  }

  Graph& graph_;
  const BackwardOptions& options_;
  Values& values_;
  NodeCall call_;
  NodeId current_{};
  std::vector<std::byte*> gradient_;
  std::vector<std::uint8_t> needed_;  // kLeads, kWanted
  std::vector<std::byte*> targets_;   // of the node at hand, one an operand
  std::vector<std::uint8_t> store_;   // likewise
  std::vector<float*> float_targets_;
  std::vector<std::byte> unread_;
  std::vector<Gradients*> used_;
};

}  // namespace

void differentiate(Graph& graph, NodeId loss, const BackwardOptions& options) {
  if (graph.type(loss).elements != 1)
    throw UsageError(fmt::format("backward: the loss must have one element, and {} has {}\n  {}  {}",
                                 graph.type(loss).to_string(), graph.type(loss).elements, graph.describe(loss),
                                 graph.source(loss).to_string()));
  compute(graph, {&loss, 1});
  const FlushDenormals flush;
  Pass(graph, options).run(loss);
}

}  // namespace espalier::exec
