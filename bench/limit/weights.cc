#include "bench/limit/weights.h"

#include <algorithm>

#include "espalier/base/error.h"

namespace espalier::bench {

Weights::Weights(const Model& model) {
  for (const Parameter* parameter : model.parameters()) {
    auto weight = std::make_unique<Weight>();
    const Shape& shape = parameter->shape();
    weight->name = parameter->name();
    weight->columns = shape[shape.rank() - 1];
    weight->rows = shape.elements() / weight->columns;
    const auto from = parameter->value().as<float>();
    std::copy(from.begin(), from.end(), weight->values.room(weight->size()));
    all_.push_back(std::move(weight));
  }
}

Weight& Weights::operator[](std::string_view name) const {
  for (const std::unique_ptr<Weight>& weight : all_)
    if (weight->name == name) return *weight;
  throw UsageError("weights: the model has no parameter \"" + std::string(name) + "\"");
}

void Weights::begin_collecting() {
  for (const std::unique_ptr<Weight>& weight : all_) {
    weight->collects = true;
    std::fill_n(weight->gradient.room(weight->size()), weight->size(), 0.0F);
  }
}

std::vector<Runner::Gradient> Weights::end_collecting() {
  std::vector<Runner::Gradient> gradients;
  for (const std::unique_ptr<Weight>& weight : all_) {
    weight->collects = false;
    const float* from = weight->gradient.data();
    gradients.push_back({weight->name, {from, from + weight->size()}});
  }
  return gradients;
}

}  // namespace espalier::bench
