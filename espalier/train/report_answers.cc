#include "espalier/train/report_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "espalier/report/numbers.h"

namespace espalier::train {
namespace {

constexpr std::size_t kMostClasses = 500;
constexpr std::size_t kListedMistakes = 20;

/// Calls done(expected, predicted) for every question whose right answer is known.
void for_known(const Prediction& prediction, const std::function<void(double, double)>& done) {
  const std::size_t count = std::min(prediction.expected.size(), prediction.predicted.size());
  for (std::size_t i = 0; i < count; ++i)
    if (!std::isnan(prediction.expected[i])) done(prediction.expected[i], prediction.predicted[i]);
}

/// Names of the classes 0 to the highest that occurs; numbers where the task has no names.
std::vector<std::string> class_names(const Task& task, const Evaluation& evaluation) {
  std::vector<std::string> names = task.classes();
  double highest = -1;
  for (const Prediction& prediction : evaluation.predictions)
    for_known(prediction, [&](double expected, double predicted) {
      highest = std::max({highest, expected, std::isnan(predicted) ? -1 : predicted});
    });
  while (static_cast<double>(names.size()) <= std::min(highest, static_cast<double>(kMostClasses)))
    names.push_back(fmt::format("{}", names.size()));
  return names;
}

std::optional<report::Confusion> confusion_of(const Task& task, const Evaluation& evaluation) {
  report::Confusion confusion{class_names(task, evaluation), {}};
  const std::size_t count = confusion.classes.size();
  if (count == 0 || count > kMostClasses) return {};
  confusion.counts.assign(count, std::vector<std::int64_t>(count));
  const auto last = static_cast<double>(count - 1);
  for (const Prediction& prediction : evaluation.predictions)
    for_known(prediction, [&](double expected, double predicted) {
      if (expected < 0 || expected > last || !(predicted >= 0 && predicted <= last)) return;
      ++confusion.counts[static_cast<std::size_t>(expected)][static_cast<std::size_t>(predicted)];
    });
  return confusion;
}

report::Residuals residuals_of(const Evaluation& evaluation) {
  report::Residuals residuals;
  for (const Prediction& prediction : evaluation.predictions)
    for_known(prediction, [&](double expected, double predicted) {
      residuals.points.push_back({expected, predicted, fmt::format("instance {}", prediction.instance)});
    });
  return residuals;
}

bool is_mistake(const Prediction& prediction, Answers answers) {
  bool is_wrong = false;
  for_known(prediction, [&](double expected, double predicted) {
    is_wrong = is_wrong || answers == Answers::kNumbers || expected != predicted;
  });
  return is_wrong;
}

std::string answers_text(std::span<const double> answers, Answers kind, const std::vector<std::string>& classes) {
  constexpr std::size_t kMostShown = 200;
  std::string text;
  for (std::size_t i = 0; i < answers.size() && i < kMostShown; ++i) {
    const double answer = answers[i];
    if (i > 0) text += ' ';
    if (std::isnan(answer)) {
      text += "?";
    } else if (kind == Answers::kNumbers) {
      text += report::figure(answer);
    } else {
      const bool has_name = answer >= 0 && answer < static_cast<double>(classes.size());
      text += has_name ? classes[static_cast<std::size_t>(answer)] : fmt::format("{}", answer);
    }
  }
  return answers.size() > kMostShown ? text + " …" : text;
}

/// A loss that is no number is the worst.
double badness(const Prediction& prediction) { return std::isnan(prediction.loss) ? INFINITY : prediction.loss; }

}  // namespace

void add_answers(const Task& task, Split split, const Evaluation& evaluation, report::RunReport& report) {
  const Answers kind = task.answers();
  report.confusion.reset();
  report.residuals.reset();
  report.mistakes.clear();
  report.mistakes_in_all = 0;
  if (kind == Answers::kNone) return;
  if (kind == Answers::kClasses) report.confusion = confusion_of(task, evaluation);
  if (kind == Answers::kNumbers) report.residuals = residuals_of(evaluation);

  std::vector<const Prediction*> wrong;
  for (const Prediction& prediction : evaluation.predictions)
    if (is_mistake(prediction, kind)) wrong.push_back(&prediction);
  report.mistakes_in_all = std::ssize(wrong);
  const auto end = wrong.begin() + std::min<std::ptrdiff_t>(std::ssize(wrong), kListedMistakes);
  std::partial_sort(wrong.begin(), end, wrong.end(), [](const Prediction* a, const Prediction* b) {
    return badness(*a) != badness(*b) ? badness(*a) > badness(*b) : a->instance < b->instance;
  });
  wrong.erase(end, wrong.end());
  const std::vector<std::string> classes = task.classes();
  for (const Prediction* prediction : wrong)
    report.mistakes.push_back(
        {prediction->instance, prediction->loss, answers_text(prediction->expected, kind, classes),
         answers_text(prediction->predicted, kind, classes), task.text(split, prediction->instance)});
}

}  // namespace espalier::train
