#include "espalier/onnx/emissions.h"

#include <fmt/format.h>

#include "espalier/base/error.h"

namespace espalier::onnx {

const Emission* find_emission(std::string_view op) {
  for (const std::span<const Emission> part :
       {map_emissions(), product_emissions(), reduce_emissions(), move_emissions()})
    for (const Emission& emission : part)
      if (emission.op == op) return &emission;
  return nullptr;
}

const Emission& emission_of(const OpInfo& info) {
  const Emission* emission = find_emission(info.name);
  if (emission == nullptr)
    throw UsageError(fmt::format("onnx: the op {} cannot be exported: it is not one of the library's", info.name));
  if (emission->form == Emission::Form::kRefused)
    throw UsageError(fmt::format("onnx: the op {} cannot be exported: {}", info.name, emission->reason));
  return *emission;
}

void require_exportable(const Graph& graph, NodeId node) {
  const Type& type = graph.type(node);
  const auto refuse = [&](std::string_view why) {
    throw UsageError(fmt::format("onnx: {} cannot be exported: {}\n  at {}", graph.describe(node), why,
                                 graph.source(node).to_string()));
  };
  if (type.dtype != DType::kFloat32) refuse(fmt::format("it is {}, and files are of float32", type.to_string()));
  if (type.elements == 0) refuse(fmt::format("it is {}, which has no elements", type.to_string()));
  const OpInfo& info = *graph.signature(node).info;
  if (info.kind == Kind::kCell || info.kind == Kind::kResult) return;  // op by op, when its body is written
  try {
    emission_of(info);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}\n  at {}", error.what(), graph.source(node).to_string()));
  }
}

}  // namespace espalier::onnx
