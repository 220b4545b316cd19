/// The files that a training command writes about its run beside the weights: a page, a table, events.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "espalier/train/report_observer.h"
#include "espalier/train/run_logs.h"
#include "espalier/train/trace_observer.h"

namespace espalier::cli {

struct RunFileOptions {
  std::string report;
  std::string log;
  std::string trace;
};

/// --report, --log and --trace.
void add_run_files(CLI::App& command, RunFileOptions& options);

/// --trace
void add_trace(CLI::App& command, std::string& trace);
/// Says on standard output where the trace is.
void print_trace(const std::string& path, const train::TraceObserver& trace);

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
  std::optional<train::TraceObserver> trace_;
};

}  // namespace espalier::cli
