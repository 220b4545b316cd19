#include "espalier/nn/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "espalier/base/error.h"
#include "espalier/base/nearest.h"
#include "espalier/base/random.h"

namespace espalier {
namespace {

std::string joined(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

// FNV-1a of Fowler, Noll and Vo: the same stream for the same name on every machine, which std::hash does not promise.
std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

std::string closest(std::string_view name, std::span<Parameter* const> parameters) {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::size_t, std::string_view>> by_distance;
  for (const Parameter* parameter : parameters)
    by_distance.emplace_back(edit_distance(name, parameter->name()), parameter->name());
  const std::size_t shown = std::min(kShown, by_distance.size());
  std::partial_sort(by_distance.begin(), by_distance.begin() + static_cast<std::ptrdiff_t>(shown), by_distance.end());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", by_distance[i].second);
  return text;
}

[[noreturn]] void refuse_unknown(std::string_view what, std::string_view name, std::span<Parameter* const> parameters) {
  if (parameters.empty()) throw UsageError(fmt::format("model: no {} \"{}\"; the model has no parameters", what, name));
  throw UsageError(fmt::format("model: no {} \"{}\"; the closest of {} names: {}", what, name, parameters.size(),
                               closest(name, parameters)));
}

}  // namespace

Scope Scope::operator/(std::string_view name) const { return {*model_, joined(prefix_, name)}; }

Parameter& Scope::add(std::string_view name, const Shape& shape, const init::Initializer& initializer) const {
  return model_->add(joined(prefix_, name), shape, initializer);
}

Model::Model(std::uint64_t seed) : seed_(seed) {}
Model::~Model() = default;

Parameter& Model::add(std::string name, const Shape& shape, const init::Initializer& initializer) {
  if (name.empty()) throw UsageError("model: a parameter needs a name");
  if (name == "__metadata__")
    throw UsageError("model: the name \"__metadata__\" has a meaning of its own in weights files");
  if (const Parameter* taken = find(name); taken != nullptr)
    throw UsageError(
        fmt::format("model: the name \"{}\" is taken by a parameter of shape {}", name, taken->shape().to_string()));
  if (!initializer) throw UsageError(fmt::format("model: parameter \"{}\" has no initializer", name));

  Tensor value(shape);
  Random random(seed_, stream_of(name));
  initializer(value, random);
  if (value.shape() != shape)
    throw UsageError(fmt::format("model: parameter \"{}\" has shape {}, and its initializer made {}", name,
                                 shape.to_string(), value.shape().to_string()));
  if (value.dtype() != dtype_) value = value.to(dtype_);

  OwnedParameter made(new Parameter(std::move(name), std::move(value)));
  made->gradients = &gradients_;
  owned_.push_back(std::move(made));
  Parameter* const parameter = owned_.back().get();
  order_.push_back(parameter);
  by_name_.emplace(parameter->name(), parameter);
  return *parameter;
}

Parameter& Model::parameter(std::string_view name) const {
  if (Parameter* found = find(name); found != nullptr) return *found;
  refuse_unknown("parameter", name, order_);
}

Parameter* Model::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : found->second;
}

std::int64_t Model::count() const {
  return std::accumulate(
      order_.begin(), order_.end(), std::int64_t{0},
      [](std::int64_t sum, const Parameter* parameter) { return sum + parameter->shape().elements(); });
}

std::vector<Parameter*> Model::under(std::string_view prefix) const {
  std::vector<Parameter*> result;
  for (Parameter* parameter : order_) {
    const std::string_view name = parameter->name();
    if (prefix.empty() || name == prefix || (name.starts_with(prefix) && name[prefix.size()] == '.'))
      result.push_back(parameter);
  }
  if (result.empty() && !prefix.empty()) refuse_unknown("parameter is or lies under", prefix, order_);
  return result;
}

void Model::freeze(std::string_view prefix, bool frozen) {
  for (Parameter* parameter : under(prefix)) parameter->frozen = frozen;
}

void Model::set_learning_rate_scale(std::string_view prefix, double scale) {
  if (!(scale >= 0 && scale <= std::numeric_limits<double>::max()))
    throw UsageError(fmt::format("model: the scale of a learning rate must be 0 or more and finite, not {}", scale));
  for (Parameter* parameter : under(prefix)) parameter->learning_rate_scale = scale;
}

void Model::set_gradient_scale(std::string_view prefix, double scale) {
  if (!(scale >= 0 && scale <= std::numeric_limits<double>::max()))
    throw UsageError(fmt::format("model: the scale of a gradient must be 0 or more and finite, not {}", scale));
  for (Parameter* parameter : under(prefix)) parameter->gradient_scale = scale;
}

void Model::to(DType dtype) {
  if (dtype == DType::kInt32) throw UsageError("model: parameters are float32 or float64, not int32");
  for (Parameter* parameter : order_)
    if (parameter->value().dtype() != dtype) parameter->replace_value(parameter->value().to(dtype));
  dtype_ = dtype;
  gradients_.clear();
}

void Model::save(const FilePath& path, const Metadata& metadata) const {
  std::vector<NamedTensorRef> tensors;
  tensors.reserve(order_.size());
  for (const Parameter* parameter : order_) tensors.push_back({parameter->name(), parameter->value()});
  write_safetensors(path, tensors, metadata);
}

void Model::load(const FilePath& path, bool allow_more) {
  const SafetensorsReader file(path);
  // Everything that can be refused is refused before the first parameter changes.
  for (const Parameter* parameter : order_) {
    const Shape& shape = file.shape(parameter->name());
    if (shape != parameter->shape())
      throw DataError(fmt::format("{}: tensor \"{}\" has shape {}, and the parameter {}", path.text(),
                                  parameter->name(), shape.to_string(), parameter->shape().to_string()));
    file.dtype(parameter->name());
  }
  if (!allow_more)
    for (const std::string& name : file.names())
      if (find(name) == nullptr)
        throw DataError(fmt::format("{}: tensor \"{}\" belongs to no parameter; the closest names: {}", path.text(),
                                    name, closest(name, order_)));
  for (Parameter* parameter : order_) file.read_into(parameter->name(), parameter->mutable_value());
}

}  // namespace espalier
