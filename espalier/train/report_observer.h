/// ReportObserver: writes an HTML page about a training run when it ends, however it ends (report/run_page.h).
///
///   train::ReportObserver report({.path = "run/report.html", .title = "sentiment"});
///   train::Trainer trainer(net.model, task, {.folder = "run", .observers = {&report}});
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "espalier/base/export.h"
#include "espalier/report/run_page.h"
#include "espalier/train/observer.h"

namespace espalier::train {

struct ReportOptions {
  std::filesystem::path path;
  std::string title = "training run";
  std::string footer;  // such as the name and version of the program
};

/// The page has the curves of loss and figures, learning rate and gradient norm; answers and mistakes of the best
/// evaluation of the held-out instances in this process; the data, the settings, and where time went. Of a resumed run,
/// curves by epoch are whole; curves by update, times and counts begin where it was resumed, and the page says so.
class ESPALIER_EXPORT ReportObserver : public Observer {
 public:
  explicit ReportObserver(ReportOptions options);
  ~ReportObserver() override;

  void run_started(const RunStarted& event) override;
  void epoch_started(const EpochStarted& event) override;
  void step_done(const StepDone& event) override;
  void evaluated(const Evaluated& event) override;
  void epoch_done(const EpochSummary& event) override;
  void run_ended(const RunEnded& event) override;

  /// The report as it is now; complete after run_ended().
  const report::RunReport& report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::train
