#include "espalier/train/checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"

namespace espalier::train {
namespace {

constexpr std::string_view kWeights = "weights/";
constexpr std::string_view kAverage = "average/";
constexpr std::string_view kOptimizer = "optimizer/";

std::string name_in(std::string_view prefix, const Parameter& parameter) {
  return std::string(prefix) + parameter.name();
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const RunState& state, const Settings& settings,
                      const Model& model, const optim::Optimizer& optimizer, const WeightAverage& average) {
  const NamedTensors of_optimizer = optimizer.state();
  std::vector<std::pair<std::string, const Tensor*>> all;
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const Parameter& parameter = *model.parameters()[i];
    all.emplace_back(name_in(kWeights, parameter), &parameter.value());
    if (average.is_on()) all.emplace_back(name_in(kAverage, parameter), &average.tensors()[i]);
  }
  for (const auto& [name, tensor] : of_optimizer) all.emplace_back(std::string(kOptimizer) + name, &tensor);
  std::vector<NamedTensorRef> refs;
  refs.reserve(all.size());
  for (const auto& [name, tensor] : all) refs.push_back({name, *tensor});
  write_safetensors(
      path, refs,
      {{"run", state.to_text()}, {"settings", settings_text(settings)}, {"threads", std::to_string(thread_count())}});
}

CheckpointReader::CheckpointReader(const std::filesystem::path& path) : path_(path.string()), file_(path) {
  const auto fact = [&](std::string_view name) -> const std::string& {
    const auto found = file_.metadata().find(name);
    if (found == file_.metadata().end())
      throw DataError(fmt::format("{}: this is no checkpoint: its metadata lack \"{}\"", path_, name));
    return found->second;
  };
  state_ = RunState::from_text(fact("run"), path_);
  settings_ = settings_from_text(fact("settings"), path_);
  const std::string& threads = fact("threads");
  std::from_chars(threads.data(), threads.data() + threads.size(), threads_);
}

std::vector<std::string> CheckpointReader::parameter_differences(const Model& model) const {
  std::vector<std::string> result;
  for (const Parameter* parameter : model.parameters()) {
    const std::string name = name_in(kWeights, *parameter);
    if (!file_.contains(name))
      result.push_back(fmt::format("parameter \"{}\" is new", parameter->name()));
    else if (file_.shape(name) != parameter->shape())
      result.push_back(fmt::format("parameter \"{}\" was {} and is {} now", parameter->name(),
                                   file_.shape(name).to_string(), parameter->shape().to_string()));
  }
  for (const std::string& name : file_.names())
    if (name.starts_with(kWeights) && model.find(name.substr(kWeights.size())) == nullptr)
      result.push_back(fmt::format("parameter \"{}\" is gone", name.substr(kWeights.size())));
  return result;
}

NamedTensors CheckpointReader::under(const std::string& prefix) const {
  NamedTensors result;
  for (const std::string& name : file_.names())
    if (name.starts_with(prefix)) result.emplace(name.substr(prefix.size()), file_.read(name));
  return result;
}

void CheckpointReader::load(Model& model, optim::Optimizer& optimizer, WeightAverage& average) const {
  // Everything is read before anything changes.
  std::vector<Tensor> weights;
  std::vector<Tensor> averages;
  for (const Parameter* parameter : model.parameters()) {
    weights.push_back(parameter->value());
    file_.read_into(name_in(kWeights, *parameter), weights.back());
    if (!average.is_on()) continue;
    // Averages that were not made until now start from the weights.
    const std::string name = name_in(kAverage, *parameter);
    averages.push_back(weights.back());
    if (file_.contains(name)) file_.read_into(name, averages.back());
  }
  const double rate = optimizer.learning_rate();
  try {
    optimizer.set_state(under(std::string(kOptimizer)));
  } catch (const UsageError& error) {
    throw DataError(fmt::format("{}: {}", path_, error.what()));
  }
  optimizer.set_learning_rate(rate);
  for (std::size_t i = 0; i < weights.size(); ++i) model.parameters()[i]->replace_value(std::move(weights[i]));
  if (average.is_on()) average.tensors() = std::move(averages);
}

}  // namespace espalier::train
