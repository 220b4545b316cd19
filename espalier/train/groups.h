/// Instances outside of training, in groups of a fixed size that are divided among the threads. Internal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/graph/graph.h"
#include "espalier/tensor/tensor.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/task.h"

namespace espalier::train {

/// Calls work(graph, begin, end) for groups of the instances 0 to count - 1, several at once, each with a graph that is
/// empty then; and done(begin, end) in the caller's thread after every few groups, in order. The groups do not depend
/// on the number of threads, and neither do their numbers.
template <class Work, class Done>
void for_each_group(std::int64_t count, const Work& work, const Done& done) {
  constexpr std::int64_t kGroup = 64;
  constexpr std::int64_t kGroupsAtOnce = 32;
  for (std::int64_t begin = 0; begin < count; begin += kGroup * kGroupsAtOnce) {
    const std::int64_t end = std::min(count, begin + kGroup * kGroupsAtOnce);
    parallel_for((end - begin + kGroup - 1) / kGroup, 1, [&](std::int64_t from, std::int64_t to) {
      Graph graph({.training = false});
      for (std::int64_t group = from; group < to; ++group) {
        const std::int64_t first = begin + group * kGroup;
        graph.clear();
        work(graph, first, std::min(end, first + kGroup));
      }
    });
    done(begin, end);
  }
}

inline double sum_of(const Tensor& loss) {
  double sum = 0;
  for (std::int64_t i = 0; i < loss.elements(); ++i) sum += loss.at(i);
  return sum;
}

/// Calls read(instance, loss, outputs) for each instance of a split, several at once, with the values of what
/// Task::record() gave.
template <class Read, class Done>
void for_each_output(const Task& task, Split split, const Read& read, const Done& done) {
  const auto work = [&](Graph& graph, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> instances(static_cast<std::size_t>(end - begin));
    std::iota(instances.begin(), instances.end(), begin);
    std::vector<Expr> outputs;
    std::vector<std::size_t> ends;  // of each instance's outputs, behind which its loss is
    for (const Recorded& recorded : task.record_all(graph, split, instances)) {
      outputs.insert(outputs.end(), recorded.outputs.begin(), recorded.outputs.end());
      ends.push_back(outputs.size());
      outputs.push_back(recorded.loss);
    }
    graph.finish(outputs);
    std::size_t at = 0;
    std::vector<Tensor> values;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      values.clear();
      for (; at < ends[i]; ++at) values.push_back(outputs[at].value());
      read(begin + static_cast<std::int64_t>(i), sum_of(outputs[at++].value()), std::span<const Tensor>(values));
    }
  };
  for_each_group(task.size(split), work, done);
}

/// Fills loss and metrics from the predictions.
Evaluation measured(const Task& task, Evaluation result);

}  // namespace espalier::train
