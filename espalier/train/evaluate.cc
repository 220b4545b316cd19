#include "espalier/train/evaluate.h"

#include <algorithm>
#include <utility>

#include "espalier/train/groups.h"

namespace espalier::train {

const Metric* Evaluation::find(std::string_view name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

Evaluation evaluate(const Task& task, Split split, const EvaluationWatch& watch) {
  Evaluation result;
  result.instances = task.size(split);
  result.predictions.resize(static_cast<std::size_t>(result.instances));
  for_each_output(
      task, split,
      [&](std::int64_t instance, double loss, std::span<const Tensor> outputs) {
        Prediction& prediction = result.predictions[static_cast<std::size_t>(instance)];
        prediction.instance = instance;
        prediction.loss = loss;
        task.read(split, instance, outputs, prediction);
      },
      [&](std::int64_t, std::int64_t end) {
        if (watch) watch(end, result.instances);
      });
  return measured(task, std::move(result));
}

Evaluation measured(const Task& task, Evaluation result) {
  double total = 0;
  for (const Prediction& prediction : result.predictions) total += prediction.loss;
  if (result.instances > 0) result.loss = total / static_cast<double>(result.instances);
  result.metrics = task.measure(result.predictions);
  result.metrics.push_back({"loss", result.loss, false});
  return result;
}

}  // namespace espalier::train
