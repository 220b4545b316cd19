#include "espalier/train/task.h"

#include <fmt/format.h>

#include <limits>

#include "espalier/base/error.h"
#include "espalier/train/accuracy.h"
#include "espalier/train/number_errors.h"

namespace espalier::train {
namespace {

/// FNV-1a, 64 bits.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) add_byte(static_cast<unsigned char>(byte));
  }
  void add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(number >> shift));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// Calls f(expected, predicted) for all questions whose answer is known.
template <class F>
void for_each_known(std::span<const Prediction> predictions, const F& f) {
  for (const Prediction& prediction : predictions)
    for (std::size_t i = 0; i < prediction.expected.size(); ++i) f(prediction.expected[i], prediction.predicted[i]);
}

}  // namespace

std::string_view name_of(Split split) {
  switch (split) {
    case Split::kTrain: return "train";
    case Split::kHeldOut: return "held_out";
    case Split::kTest: return "test";
  }
  return "";
}

std::string_view words_of(Split split) { return split == Split::kHeldOut ? "held out" : name_of(split); }

Task::~Task() = default;
std::int64_t Task::nodes(Split, std::int64_t) const { return 1; }

std::vector<Recorded> Task::record_all(Graph& graph, Split split, std::span<const std::int64_t> instances) const {
  std::vector<Recorded> all;
  all.reserve(instances.size());
  for (const std::int64_t instance : instances) {
    graph.begin_instance(static_cast<std::uint64_t>(instance));
    Recorded& recorded = all.emplace_back();
    recorded.loss = record(graph, split, instance, recorded.outputs);
  }
  return all;
}

void Task::read(Split, std::int64_t, std::span<const Tensor>, Prediction&) const {}
Answers Task::answers() const { return Answers::kNone; }
std::vector<std::string> Task::classes() const { return {}; }
std::string Task::text(Split, std::int64_t) const { return {}; }

std::vector<Metric> Task::measure(std::span<const Prediction> predictions) const {
  if (answers() == Answers::kNone) return {};
  std::vector<double> expected;
  std::vector<double> predicted;
  for_each_known(predictions, [&](double right, double answer) {
    expected.push_back(right);
    predicted.push_back(answer);
  });
  if (answers() == Answers::kClasses) return {{"accuracy", accuracy(expected, predicted), true}};
  return {{"rmse", root_mean_squared_error(expected, predicted), false},
          {"mae", mean_absolute_error(expected, predicted), false}};
}

std::uint64_t fingerprint(const Task& task, Split split) {
  Hash hash;
  const std::int64_t size = task.size(split);
  hash.add(size);
  for (std::int64_t i = 0; i < size; ++i) {
    hash.add(task.nodes(split, i));
    const std::string text = task.text(split, i);
    hash.add(static_cast<std::int64_t>(text.size()));
    hash.add(text);
  }
  return hash.value();
}

void read_class(const Tensor& scores, std::int64_t label, Prediction& prediction) {
  prediction.expected = {label < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(label)};
  prediction.predicted = {static_cast<double>(scores.argmax())};
  prediction.scores.resize(static_cast<std::size_t>(scores.elements()));
  for (std::int64_t i = 0; i < scores.elements(); ++i) prediction.scores[static_cast<std::size_t>(i)] = scores.at(i);
}

void read_numbers(const Tensor& output, std::span<const double> targets, Prediction& prediction) {
  if (output.elements() != std::ssize(targets))
    throw UsageError(fmt::format("read_numbers: the output has {} elements, and there are {} right ones",
                                 output.elements(), targets.size()));
  prediction.expected.assign(targets.begin(), targets.end());
  prediction.predicted.resize(targets.size());
  for (std::int64_t i = 0; i < output.elements(); ++i) prediction.predicted[static_cast<std::size_t>(i)] = output.at(i);
}

}  // namespace espalier::train
