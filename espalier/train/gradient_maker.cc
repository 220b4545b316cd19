#include "espalier/train/gradient_maker.h"

#include <cmath>

#include "espalier/ops/sum.h"

namespace espalier::train {

/// What is recorded of a part of a minibatch.
struct GradientMaker::Recorded {
  Expr loss;  // the sum over the instances
  /// If answers are measured: the outputs of all instances, and where those of each end.
  std::vector<Expr> outputs;
  std::vector<std::size_t> ends;
};

GradientMaker::GradientMaker(const Task& task, std::span<const std::int64_t> nodes, const GradientOptions& options)
    : task_(task), nodes_(nodes), options_(options), lanes_(graph_options()), ahead_(graph_options()) {}

GraphOptions GradientMaker::graph_options() const {
  // The step of each minibatch is set; a fixed one here keeps the counter of the process where it is.
  return {.seed = options_.seed, .step = 0, .strategy = options_.strategy};
}

void GradientMaker::run(const Minibatches& minibatches, std::int64_t first, std::int64_t end, std::uint64_t first_step,
                        const Done& done) {
  if (options_.ahead) return run_ahead(minibatches, first, end, first_step, done);
  for (std::int64_t i = first; i < end; ++i)
    run_in_lanes(minibatches, i, first_step + static_cast<std::uint64_t>(i - first), done);
}

Expr GradientMaker::record_instance(Graph& graph, std::size_t instance, std::vector<Expr>& outputs) {
  const auto number = static_cast<std::int64_t>(instance);
  std::vector<Expr> all;  // the loss behind the outputs
  recordings_.record(
      graph, instance, [&](std::vector<Expr>& to) { to.push_back(task_.record(graph, Split::kTrain, number, to)); },
      all);
  outputs.insert(outputs.end(), all.begin(), all.end() - 1);
  return all.back();
}

GradientMaker::Recorded GradientMaker::record(Graph& graph, Part part) {
  Recorded recorded;
  std::vector<Expr> losses;
  losses.reserve(part.size());
  if (options_.keep_recordings) {
    for (const std::size_t instance : part) {
      graph.begin_instance(instance);
      losses.push_back(record_instance(graph, instance, recorded.outputs));
      if (options_.measure)
        recorded.ends.push_back(recorded.outputs.size());
      else
        recorded.outputs.clear();
    }
  } else {
    const std::vector<std::int64_t> instances(part.begin(), part.end());
    for (const train::Recorded& of : task_.record_all(graph, Split::kTrain, instances)) {
      losses.push_back(of.loss);
      if (!options_.measure) continue;
      recorded.outputs.insert(recorded.outputs.end(), of.outputs.begin(), of.outputs.end());
      recorded.ends.push_back(recorded.outputs.size());
    }
  }
  for (const Expr& output : recorded.outputs) graph.keep(output);
  recorded.loss = sum(losses);
  return recorded;
}

TrainingScore GradientMaker::differentiate(const Recorded& recorded, Part part, Gradients& into) const {
  recorded.loss.backward({.into = &into, .wanted = {}});
  TrainingScore score{.loss = recorded.loss.scalar(), .instances = std::ssize(part)};
  std::size_t begin = 0;
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < recorded.ends.size(); ++i) {
    values.clear();
    for (std::size_t at = begin; at < recorded.ends[i]; ++at) values.push_back(recorded.outputs[at].value());
    begin = recorded.ends[i];
    Prediction prediction;
    task_.read(Split::kTrain, static_cast<std::int64_t>(part[i]), values, prediction);
    for (std::size_t q = 0; q < prediction.expected.size(); ++q) {
      score.asked += std::isnan(prediction.expected[q]) ? 0 : 1;
      score.right += prediction.expected[q] == prediction.predicted[q] ? 1 : 0;
    }
  }
  return score;
}

void GradientMaker::run_in_lanes(const Minibatches& minibatches, std::int64_t number, std::uint64_t step,
                                 const Done& done) {
  const Part minibatch = minibatches[number];
  std::vector<std::int64_t> sizes;
  sizes.reserve(minibatch.size());
  for (const std::size_t instance : minibatch) sizes.push_back(nodes_[instance]);
  std::vector<TrainingScore> scores(minibatch.size());  // of a part, where it begins
  lanes_.run(
      sizes,
      [&](Lane& lane, std::int64_t begin, std::int64_t end) {
        lane.graph.set_step(step);
        const Part part = minibatch.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        const Recorded recorded = record(lane.graph, part);
        scores[static_cast<std::size_t>(begin)] = differentiate(recorded, part, lane.gradients);
      },
      options_.least_in_lane);
  statistics_.add(lanes_.statistics());
  TrainingScore total;
  for (const TrainingScore& score : scores) total.add(score);
  done(number, total, lanes_.gradients());
}

void GradientMaker::run_ahead(const Minibatches& minibatches, std::int64_t first, std::int64_t end,
                              std::uint64_t first_step, const Done& done) {
  ahead_.run(
      end - first,
      [&](Graph& graph, std::int64_t i) {
        graph.set_step(first_step + static_cast<std::uint64_t>(i));
        return record(graph, minibatches[first + i]);
      },
      [&](const Recorded& recorded, std::int64_t i) {
        gradients_.clear();
        const TrainingScore score = differentiate(recorded, minibatches[first + i], gradients_);
        statistics_.add(recorded.loss.graph().statistics());
        done(first + i, score, gradients_);
      });
}

}  // namespace espalier::train
