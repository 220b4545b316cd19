/// The files that a training command writes about its run beside the weights: a page, a table, events.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "espalier/train/report_observer.h"
#include "espalier/train/run_logs.h"

namespace espalier::cli {

struct RunFileOptions {
  std::string report;
  std::string log;
};

/// --report and --log.
void add_run_files(CLI::App& command, RunFileOptions& options);

/// The observers that write them. Must live as long as the run.
class RunFiles {
 public:
  /// Shows, before any work, that they can be written. `title` says what is trained.
  RunFiles(const RunFileOptions& options, std::string title);

  std::vector<train::Observer*> observers();
  /// Says on standard output where they are.
  void print() const;

 private:
  RunFileOptions options_;
  std::optional<train::ReportObserver> report_;
  std::optional<train::CsvLog> table_;
  std::optional<train::TensorBoardLog> events_;
};

}  // namespace espalier::cli
