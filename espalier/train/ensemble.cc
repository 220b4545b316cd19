#include "espalier/train/ensemble.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/train/groups.h"

namespace espalier::train {
namespace {

/// The sums over the members for one instance.
struct SummedOutputs {
  double loss = 0;
  std::vector<Tensor> outputs;  // float64

  void add(std::int64_t instance, double of_loss, std::span<const Tensor> more) {
    loss += of_loss;
    if (outputs.empty())
      for (const Tensor& tensor : more) outputs.emplace_back(tensor.shape(), DType::kFloat64);
    for (std::size_t i = 0; i < more.size(); ++i) {
      if (outputs.size() != more.size() || outputs[i].shape() != more[i].shape())
        throw UsageError(fmt::format("Ensemble: the members' outputs for instance {} have different shapes", instance));
      for (std::int64_t e = 0; e < more[i].elements(); ++e) outputs[i].set(e, outputs[i].at(e) + more[i].at(e));
    }
  }
  void divide(std::size_t by) {
    loss /= static_cast<double>(by);
    for (Tensor& tensor : outputs) {
      for (std::int64_t e = 0; e < tensor.elements(); ++e) tensor.set(e, tensor.at(e) / static_cast<double>(by));
      tensor = tensor.to(DType::kFloat32);
    }
  }
};

}  // namespace

void Ensemble::add(Model& model, const Task& task) {
  for (const Split split : {Split::kHeldOut, Split::kTest}) {
    const std::int64_t size = members_.empty() ? task.size(split) : members_[0].task->size(split);
    if (task.size(split) != size)
      throw UsageError(fmt::format("Ensemble: the first member has {} {} instances, and another {}", size,
                                   name_of(split), task.size(split)));
  }
  members_.push_back({&model, &task});
}

std::vector<RunResult> Ensemble::train(const TrainerOptions& options) {
  std::vector<RunResult> results;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    TrainerOptions own = options;
    own.seed = options.seed + i;
    if (!options.folder.empty()) own.folder = fmt::format("{}/seed-{}", options.folder, own.seed);
    results.push_back(Trainer(*members_[i].model, *members_[i].task, std::move(own)).run());
    if (results.back().ending == Ending::kInterrupted) break;
  }
  return results;
}

Evaluation Ensemble::evaluate(Split split) const {
  if (members_.empty()) throw UsageError("Ensemble: it has no members");
  const Task& first = *members_[0].task;
  std::vector<SummedOutputs> sums(static_cast<std::size_t>(first.size(split)));
  for (const Member& member : members_)
    for_each_output(
        *member.task, split,
        [&](std::int64_t instance, double loss, std::span<const Tensor> outputs) {
          sums[static_cast<std::size_t>(instance)].add(instance, loss, outputs);
        },
        [](std::int64_t, std::int64_t) {});
  Evaluation result;
  result.instances = first.size(split);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].divide(members_.size());
    Prediction& prediction = result.predictions.emplace_back();
    prediction.instance = static_cast<std::int64_t>(i);
    prediction.loss = sums[i].loss;
    first.read(split, prediction.instance, sums[i].outputs, prediction);
  }
  return measured(first, std::move(result));
}

}  // namespace espalier::train
