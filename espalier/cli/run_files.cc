#include "espalier/cli/run_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "espalier/base/files.h"

namespace espalier::cli {

void add_run_files(CLI::App& command, RunFileOptions& options) {
  command.add_option("--report", options.report,
                     "Write a page about the run to this file, as HTML: curves, mistakes, settings, times");
  command.add_option("--log", options.log,
                     "Folder for log.csv, a row per epoch, and event files: `tensorboard --logdir FOLDER`");
  add_trace(command, options.trace);
}

void add_trace(CLI::App& command, std::string& trace) {
  command.add_option("--trace", trace,
                     "Write a timeline of the run to this file, as JSON, for Perfetto or chrome://tracing");
}

void print_trace(const std::string& path, const train::TraceObserver& trace) {
  if (trace.dropped() > 0)
    fmt::print("trace: {}: the beginning; {} later spans were left out\n", path, trace.dropped());
  else
    fmt::print("trace: {}\n", path);
}

RunFiles::RunFiles(const RunFileOptions& options, std::string title) : options_(options) {
  if (!options.report.empty()) {
    ensure_writable_file(options.report);
    report_.emplace(train::ReportOptions{
        .path = options.report, .title = std::move(title), .footer = "espalier " ESPALIER_VERSION});
  }
  if (!options.log.empty()) {
    ensure_writable_folder(options.log);
    table_.emplace(std::filesystem::path(options.log) / "log.csv");
    events_.emplace(options.log);
  }
  if (!options.trace.empty()) trace_.emplace(options.trace);
}

std::vector<train::Observer*> RunFiles::observers() {
  std::vector<train::Observer*> all;
  if (report_) all.push_back(&*report_);
  if (table_) all.push_back(&*table_);
  if (events_) all.push_back(&*events_);
  if (trace_) all.push_back(&*trace_);
  return all;
}

void RunFiles::print() const {
  if (report_) fmt::print("report: {}\n", options_.report);
  if (trace_) print_trace(options_.trace, *trace_);
  if (table_) fmt::print("log: {}\n", (std::filesystem::path(options_.log) / "log.csv").string());
}

}  // namespace espalier::cli
