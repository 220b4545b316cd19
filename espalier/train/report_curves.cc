#include "espalier/train/report_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "espalier/report/numbers.h"
#include "espalier/train/progress.h"

namespace espalier::train {
namespace {

constexpr std::size_t kTrainingColour = 0;
constexpr std::size_t kHeldOutColour = 1;
constexpr std::size_t kRateColour = 2;
constexpr std::size_t kNormColour = 3;
constexpr std::size_t kHeadlineMetrics = 2;

report::Series held_out_series(std::span<const EpochSummary> history, const std::string& name) {
  report::Series series{"held out", {}, false, kHeldOutColour};
  for (const EpochSummary& epoch : history)
    for (const Metric& metric : epoch.held_out)
      if (metric.name == name) series.points.push_back({static_cast<double>(epoch.epoch), metric.value});
  return series;
}

report::Series training_loss(std::span<const EpochSummary> history) {
  report::Series series{"training", {}, false, kTrainingColour};
  for (const EpochSummary& epoch : history) series.points.push_back({static_cast<double>(epoch.epoch), epoch.loss});
  return series;
}

report::Series training_accuracy(std::span<const EpochSummary> history) {
  report::Series series{"training", {}, false, kTrainingColour};
  for (const EpochSummary& epoch : history)
    if (epoch.accuracy) series.points.push_back({static_cast<double>(epoch.epoch), *epoch.accuracy});
  return series;
}

std::vector<std::string> metrics_of(std::span<const EpochSummary> history) {
  std::vector<std::string> names;
  for (const EpochSummary& epoch : history)
    for (const Metric& metric : epoch.held_out)
      if (std::find(names.begin(), names.end(), metric.name) == names.end()) names.push_back(metric.name);
  return names;
}

bool varies(const std::vector<report::Point>& points) {
  return std::any_of(points.begin(), points.end(), [&](report::Point point) { return point.y != points[0].y; });
}

}  // namespace

const EpochSummary* best_epoch(std::span<const EpochSummary> history) {
  const EpochSummary* best = nullptr;
  for (const EpochSummary& epoch : history)
    if (epoch.is_best) best = &epoch;
  return best;
}

std::vector<report::LineChart> curves_of(std::span<const EpochSummary> history, const UpdateCurves& updates) {
  const EpochSummary* best = best_epoch(history);
  const std::optional<double> marked = best == nullptr ? std::optional<double>() : static_cast<double>(best->epoch);
  const auto chart = [&](std::string title, std::string y_name, std::vector<report::Series> series) {
    return report::LineChart{std::move(title), "epoch", std::move(y_name), std::move(series), marked, "best"};
  };
  std::vector<report::LineChart> charts{chart("loss", "loss",
                                              {{"each update", updates.loss.points(), true, kTrainingColour},
                                               training_loss(history),
                                               held_out_series(history, "loss")})};
  std::vector<std::string> names = metrics_of(history);
  const bool has_accuracy = std::find(names.begin(), names.end(), "accuracy") != names.end();
  if (!has_accuracy && !training_accuracy(history).points.empty()) names.emplace_back("accuracy");
  for (const std::string& name : names) {
    if (name == "loss") continue;
    std::vector<report::Series> series{held_out_series(history, name)};
    if (name == "accuracy") series.insert(series.begin(), training_accuracy(history));
    charts.push_back(chart(name, name, std::move(series)));
  }
  const auto by_update = [&](std::string title, const std::vector<report::Point>& points, std::size_t colour) {
    report::LineChart result = chart(title, title, {{title, points, false, colour}});
    result.marked_x.reset();
    charts.push_back(std::move(result));
  };
  if (varies(updates.learning_rate.points())) by_update("learning rate", updates.learning_rate.points(), kRateColour);
  if (!updates.gradient_norm.points().empty())
    by_update("gradient norm before clipping", updates.gradient_norm.points(), kNormColour);
  return charts;
}

std::vector<report::Headline> headlines_of(std::span<const EpochSummary> history, std::int32_t epochs, const Work& work,
                                           std::int64_t parameters) {
  std::vector<report::Headline> headlines;
  if (const EpochSummary* best = best_epoch(history); best != nullptr)
    for (const Metric& metric : std::span(best->held_out).first(std::min(best->held_out.size(), kHeadlineMetrics)))
      headlines.push_back(
          {metric.name, report::figure(metric.value), fmt::format("held out, best epoch ({})", best->epoch)});
  if (!history.empty() && headlines.empty())
    headlines.push_back({"loss", report::figure(history.back().loss), "training, last epoch"});
  headlines.push_back({"epochs", fmt::format("{}", history.size()),
                       epochs > static_cast<std::int32_t>(history.size()) ? fmt::format("of at most {}", epochs) : ""});
  double seconds = 0;
  for (const EpochSummary& epoch : history) seconds += epoch.seconds;
  headlines.push_back({"training time", duration_text(seconds), "without evaluation"});
  if (work.seconds > 0 && work.instances > 0)
    headlines.push_back(
        {"speed", report::short_number(static_cast<double>(work.instances) / work.seconds), "instances per second"});
  headlines.push_back({"parameters", report::whole_number(parameters), ""});
  return headlines;
}

}  // namespace espalier::train
