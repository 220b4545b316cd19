#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/files.h"
#include "espalier/train/run_logs.h"

namespace espalier::train {
namespace {

/// In quotes if a spreadsheet would take it for several fields (RFC 4180).
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

/// The names of all held-out figures, in the order in which they first come.
std::vector<std::string> metric_names(std::span<const EpochSummary> epochs) {
  std::vector<std::string> names;
  for (const EpochSummary& epoch : epochs)
    for (const Metric& metric : epoch.held_out)
      if (std::find(names.begin(), names.end(), metric.name) == names.end()) names.push_back(metric.name);
  return names;
}

}  // namespace

std::string csv_text(std::span<const EpochSummary> epochs) {
  const std::vector<std::string> metrics = metric_names(epochs);
  std::string text = "epoch,updates,loss,accuracy";
  for (const std::string& name : metrics) text += ',' + csv_field("held_out_" + name);
  text += ",best,seconds\n";
  for (const EpochSummary& epoch : epochs) {
    text += fmt::format("{},{},{},{}", epoch.epoch, epoch.updates, epoch.loss,
                        epoch.accuracy ? fmt::format("{}", *epoch.accuracy) : "");
    for (const std::string& name : metrics) {
      const auto found = std::find_if(epoch.held_out.begin(), epoch.held_out.end(),
                                      [&](const Metric& metric) { return metric.name == name; });
      text += found == epoch.held_out.end() ? "," : fmt::format(",{}", found->value);
    }
    text += fmt::format(",{},{}\n", epoch.is_best ? 1 : 0, epoch.seconds);
  }
  return text;
}

void CsvLog::run_started(const RunStarted& event) {
  epochs_.assign(event.history.begin(), event.history.end());
  write_file_atomically(path_, csv_text(epochs_));
}

void CsvLog::epoch_done(const EpochSummary& event) {
  epochs_.push_back(event);
  write_file_atomically(path_, csv_text(epochs_));
}

}  // namespace espalier::train
