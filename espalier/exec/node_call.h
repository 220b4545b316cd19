/// One row of a node seen as a call of its op's plain code: the views that takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

class NodeCall {
 public:
  /// An argument: some elements of a node.
  struct Argument {
    NodeId node;
    std::size_t begin;
    std::size_t size;
  };

  NodeCall(const Graph& graph, NodeId node, std::int64_t row) : out_(&graph.type(node).shape) {
    const OpInfo& info = *graph.signature(node).info;
    const bool takes_all = info.is_ragged() && !info.row_an_operand;
    std::int64_t before = 0;  // rows of operands that this one comes behind
    for (NodeId input : graph.inputs(node)) {
      const std::int64_t rows = graph.rows(input);
      if (info.takes_whole)
        add(graph, input, 0, rows);
      else if (takes_all)
        for (std::int64_t r = 0; r < rows; ++r) add(graph, input, r, 1);
      else if (!info.row_an_operand)
        add(graph, input, graph.is_many(input) ? row : 0, 1);
      else if (row >= before && row < before + rows)
        add(graph, input, row - before, 1);
      before += rows;
    }
  }

  std::span<const Argument> arguments() const { return arguments_; }

  /// The inputs, of which `values` has the numbers, by id; valid until the next call.
  template <class T, class Values>
  PlainIn<T> plain(const Values& values) {
    auto& views = views_of(T());
    views.clear();
    for (const Argument& argument : arguments_)
      views.emplace_back(
          reinterpret_cast<const T*>(values[static_cast<std::size_t>(index_of(argument.node))]) + argument.begin,
          argument.size);
    return {views, shapes_, *out_};
  }

 private:
  void add(const Graph& graph, NodeId input, std::int64_t row, std::int64_t rows) {
    const Type& type = graph.type(input);
    arguments_.push_back(
        {input, static_cast<std::size_t>(row * type.elements), static_cast<std::size_t>(rows * type.elements)});
    shapes_.push_back(type.shape);
  }
  std::vector<std::span<const float>>& views_of(float) { return floats_; }
  std::vector<std::span<const double>>& views_of(double) { return doubles_; }

  const Shape* out_;
  std::vector<Argument> arguments_;
  std::vector<Shape> shapes_;
  std::vector<std::span<const float>> floats_;
  std::vector<std::span<const double>> doubles_;
};

}  // namespace espalier::exec
