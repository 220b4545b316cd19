/// The backward pass of the reference twin.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "espalier/base/at.h"
#include "espalier/base/denormals.h"
#include "espalier/base/error.h"
#include "espalier/exec/all_or_nothing.h"
#include "espalier/exec/gradients.h"
#include "espalier/exec/node_call.h"
#include "espalier/exec/parameter_versions.h"
#include "espalier/exec/reference/reference.h"
#include "espalier/ops/plain_step.h"

namespace espalier::exec {

/// One backward pass. A node's gradient is null until someone adds to it.
class Reference::Pass {
 public:
  Pass(Reference& reference, const BackwardOptions& options)
      : graph_(reference.graph_), options_(options), reference_(reference) {}

  void run(NodeId loss) {
    reference_.gradient_memory_.clear();
    const std::vector<NodeId> nodes = ancestors(graph_, {&loss, 1}, reference_.marks_, [](NodeId) { return true; });
    find_needed(nodes);
    AllOrNothing before(used_);
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
    before.keep();
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
        require_unchanged(graph_, node);
        if (parameter->frozen) continue;
        if (gradients_of(*parameter) == nullptr)
          throw UsageError(
              fmt::format("backward: parameter \"{}\" belongs to no Model; give a Gradients object for its gradient",
                          parameter->name()));
        use(gradients_of(*parameter));
        needed |= kLeads;
      }
      for (NodeId input : graph_.inputs(node))
        if (needed_[at(input)] != 0) needed |= kLeads;
    }
  }

  /// Makes sure that there is memory for the gradient of `node`, zero at first.
  void open(NodeId node) {
    if (gradient_[at(node)] != nullptr) return;
    const Parameter* parameter = graph_.parameter_of(node);
    // That of a wanted parameter is gathered by itself: the Gradients may hold those of earlier passes already.
    bool zero = true;
    if (parameter != nullptr && !parameter->frozen && !is_wanted(node)) {
      Gradients* gradients = gradients_of(*parameter);
      const Gradients::Dense dense = gradients->dense(*parameter);
      gradient_[at(node)] = dense.data;
      zero = dense.store;
    } else {
      gradient_[at(node)] = reference_.gradient_memory_.allocate(bytes(node));
    }
    if (zero) std::memset(gradient_[at(node)], 0, bytes(node));
  }

  template <class T>
  void seed(NodeId loss) {
    open(loss);
    *reinterpret_cast<T*>(gradient_[at(loss)]) += static_cast<T>(options_.factor);
  }

  /// Adds the gradients of wanted parameters to where those of parameters go.
  void pass_on_wanted() {
    for (const Expr& expr : options_.wanted) {
      const NodeId node = expr.node();
      const Parameter* parameter = graph_.parameter_of(node);
      if (!is_wanted(node) || gradient_[at(node)] == nullptr || parameter == nullptr || parameter->frozen) continue;
      needed_[at(node)] = kLeads;  // once, though it be listed twice
      Gradients* gradients = gradients_of(*parameter);
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
    for (std::int64_t i = 0; i < graph_.elements(node); ++i) sum[i] += gradient[i];
  }

  std::size_t bytes(NodeId node) const { return static_cast<std::size_t>(graph_.bytes(node)); }

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
        const std::size_t row_bytes = bytes(node) / static_cast<std::size_t>(graph_.rows(node));
        for (std::int64_t row = 0; row < graph_.rows(node); ++row)
          gradients->add_row(*table, info.table_row(graph_.fields(node, row)),
                             gradient_[at(node)] + static_cast<std::size_t>(row) * row_bytes);
        return;
      }
    }

    for (std::int64_t row = 0; row < graph_.rows(node); ++row)
      if (graph_.type(node).dtype == DType::kFloat64)
        differentiate_plain_code<double>(node, row);
      else
        differentiate_plain_code<float>(node, row);
  }

  template <class T>
  void differentiate_plain_code(NodeId node, std::int64_t row) {
    NodeCall call(graph_, node, row);
    std::vector<std::span<T>> gradients;
    for (const NodeCall::Argument& argument : call.arguments()) {
      if (needed_[at(argument.node)] == 0) {
        gradients.emplace_back();
        continue;
      }
      open(argument.node);
      gradients.emplace_back(reinterpret_cast<T*>(gradient_[at(argument.node)]) + argument.begin, argument.size);
    }
    const std::int64_t elements = graph_.type(node).elements;
    ops::plain_gradient<T>(
        graph_.signature(node).info->plain_var, graph_.attrs(node), graph_.fields(node, row),
        call.plain<T>(reference_.values_),
        {reinterpret_cast<const T*>(gradient_[at(node)]) + row * elements, static_cast<std::size_t>(elements)},
        gradients);
  }

  bool is_wanted(NodeId node) const { return (needed_[at(node)] & kWanted) != 0; }

  void keep_wanted() {
    reference_.forget_wanted();
    for (const Expr& expr : options_.wanted) {
      const Type& type = graph_.type(expr.node());
      Tensor gradient(graph_.value_shape(expr.node()), type.dtype);
      if (const std::byte* data = gradient_[at(expr.node())]) std::memcpy(gradient.data(), data, bytes(expr.node()));
      reference_.add_wanted(expr.node(), std::move(gradient));
    }
  }

  Graph& graph_;
  const BackwardOptions& options_;
  Reference& reference_;
  std::vector<std::byte*> gradient_;
  std::vector<std::uint8_t> needed_;  // kLeads, kWanted
  std::vector<Gradients*> used_;      // all that the pass may change
};

void Reference::differentiate(NodeId loss, const BackwardOptions& options) {
  require_scalar_loss(graph_, loss);
  compute({&loss, 1});
  const FlushDenormals flush;
  Pass(*this, options).run(loss);
}

}  // namespace espalier::exec
