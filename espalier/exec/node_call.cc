#include "espalier/exec/node_call.h"

namespace espalier::exec {
namespace {

/// Rows at unrelated addresses, as offsets from the first. The difference is taken of the addresses as numbers: the
/// memory is not one array.
template <class T>
BasicRows<T> scattered(std::span<T* const> at, std::int64_t width, std::vector<std::int64_t>& offsets) {
  offsets.clear();
  for (T* row : at)
    offsets.push_back((reinterpret_cast<std::intptr_t>(row) - reinterpret_cast<std::intptr_t>(at[0])) /
                      static_cast<std::intptr_t>(sizeof(T)));
  return {at[0], static_cast<std::int64_t>(at.size()), width, width, offsets.data()};
}

}  // namespace

void NodeCall::open(NodeId node) {
  const Signature& signature = graph_.signature(node);
  inputs_ = graph_.inputs(node);
  out_ = &graph_.type(node).shape;
  shapes_.clear();
  for (NodeId input : inputs_) shapes_.push_back(graph_.type(input).shape);

  const auto number = [&](NodeId input) {
    return reinterpret_cast<const float*>(values_.value[static_cast<std::size_t>(index_of(input))]);
  };
  rows_.clear();
  if (graph_.type(node).dtype == DType::kFloat32) {
    if (signature.info->is_ragged()) {
      std::vector<const float*> at;
      for (NodeId input : inputs_) at.push_back(number(input));
      rows_.push_back(scattered<const float>(at, graph_.type(inputs_[0]).elements, offsets_));
      ragged_ = {0, static_cast<std::int64_t>(inputs_.size())};
    } else {
      for (NodeId input : inputs_) {
        const std::int64_t width = graph_.type(input).elements;
        rows_.push_back({number(input), 1, width, width, nullptr});
      }
    }
  }
  step_ = {.rows = 1,
           .inputs = rows_,
           .shapes = shapes_,
           .out = out_,
           .offsets = signature.info->is_ragged() ? ragged_.data() : nullptr,
           .fields_data = static_cast<const std::byte*>(graph_.fields(node)),
           .fields_stride = signature.info->field_bytes};
}

template <>
PlainIn<float> NodeCall::plain<float>() {
  floats_.clear();
  for (NodeId input : inputs_)
    floats_.emplace_back(reinterpret_cast<const float*>(values_.value[static_cast<std::size_t>(index_of(input))]),
                         static_cast<std::size_t>(graph_.type(input).elements));
  return {floats_, shapes_, *out_};
}

template <>
PlainIn<double> NodeCall::plain<double>() {
  doubles_.clear();
  for (NodeId input : inputs_)
    doubles_.emplace_back(reinterpret_cast<const double*>(values_.value[static_cast<std::size_t>(index_of(input))]),
                          static_cast<std::size_t>(graph_.type(input).elements));
  return {doubles_, shapes_, *out_};
}

std::span<const GradRows> NodeCall::gradients(std::span<float* const> targets, std::span<const std::uint8_t> store) {
  gradients_.clear();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::int64_t width = graph_.type(inputs_[i]).elements;
    gradients_.emplace_back(Rows{targets[i], 1, width, width, nullptr}, store[i] != 0);
  }
  return gradients_;
}

std::span<const GradRows> NodeCall::gradients(std::span<float* const> targets, bool store) {
  gradients_.clear();
  gradients_.emplace_back(scattered<float>(targets, graph_.type(inputs_[0]).elements, gradient_offsets_), store);
  return gradients_;
}

}  // namespace espalier::exec
