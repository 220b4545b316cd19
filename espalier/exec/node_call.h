/// One node seen as a call of its op's plain code: the views that takes.
#pragma once

#include <span>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

class NodeCall {
 public:
  /// `values` has the numbers of every computed node, by id; the inputs of this one must be among them.
  template <class Values>
  NodeCall(const Graph& graph, const Values& values, NodeId node) : out_(&graph.type(node).shape) {
    for (NodeId input : graph.inputs(node)) {
      const Type& type = graph.type(input);
      data_.push_back(values[static_cast<std::size_t>(index_of(input))]);
      sizes_.push_back(static_cast<std::size_t>(type.elements));
      shapes_.push_back(type.shape);
    }
  }

  /// The inputs; valid until the next call.
  template <class T>
  PlainIn<T> plain() {
    auto& views = views_of(T());
    views.clear();
    for (std::size_t i = 0; i < data_.size(); ++i) views.emplace_back(reinterpret_cast<const T*>(data_[i]), sizes_[i]);
    return {views, shapes_, *out_};
  }

 private:
  std::vector<std::span<const float>>& views_of(float) { return floats_; }
  std::vector<std::span<const double>>& views_of(double) { return doubles_; }

  const Shape* out_;
  std::vector<const std::byte*> data_;
  std::vector<std::size_t> sizes_;
  std::vector<Shape> shapes_;
  std::vector<std::span<const float>> floats_;
  std::vector<std::span<const double>> doubles_;
};

}  // namespace espalier::exec
