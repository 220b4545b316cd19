/// The report of a training run: one HTML page that needs nothing else, fed by plain structs.
///
///   write_file_atomically("run/report.html", report::run_page(report));
///
/// The page loads nothing from anywhere. It has a light and a dark look, works from 360 pixels of width upwards and in
/// print, and every picture has its numbers as a table. All texts are escaped, wherever they come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/statistics.h"
#include "espalier/report/chart.h"

namespace espalier::report {

/// A figure at the top of the page: "accuracy", "0.8532", "held out, epoch 7".
struct Headline {
  std::string name;
  std::string value;
  std::string note;
};

/// A part of the data.
struct DataSplit {
  std::string name;
  std::int64_t instances = 0;
  /// Of the instances; 0 if not known.
  std::int64_t fewest_nodes = 0;
  double mean_nodes = 0;
  std::int64_t most_nodes = 0;
};

/// How often a class was expected and another one predicted.
struct Confusion {
  std::vector<std::string> classes;
  /// counts[expected][predicted], as many rows and columns as classes.
  std::vector<std::vector<std::int64_t>> counts;
};

/// Answers of a model that are real numbers.
struct Residuals {
  std::vector<ScatterPoint> points;
};

/// An instance for which the model's answer was wrong.
struct Mistake {
  std::int64_t instance = 0;
  double loss = 0;
  std::string expected;
  std::string predicted;
  std::string input;
};

struct RunReport {
  std::string title;    // what was trained
  std::string outcome;  // "finished", "interrupted"
  std::string message;  // a sentence about the outcome
  std::vector<std::string> notes;
  std::string footer;  // what made the page
  std::vector<Headline> headlines;
  std::vector<LineChart> curves;

  /// The results below are of this: "held out, epoch 7".
  std::string results_of;
  std::optional<Confusion> confusion;
  std::optional<Residuals> residuals;
  std::vector<Mistake> mistakes;  // the worst first
  std::int64_t mistakes_in_all = 0;

  std::vector<DataSplit> data;
  std::vector<std::pair<std::string, std::string>> settings;

  Statistics statistics;  // of training
  /// Of which part of the run these are, if not all of it: "since the run was resumed after update 300".
  std::string statistics_of;
  double training_seconds = 0;  // wall time
  std::int32_t threads = 1;     // whose seconds Statistics adds up
};

ESPALIER_EXPORT std::string run_page(const RunReport& report);

}  // namespace espalier::report
