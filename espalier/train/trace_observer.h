/// TraceObserver: writes a timeline of a training run, for Perfetto and chrome://tracing, when the run ends.
///
///   train::TraceObserver trace("run.json");
///   train::Trainer trainer(net.model, task, {.folder = "run", .observers = {&trace}});
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "espalier/base/export.h"
#include "espalier/base/trace.h"
#include "espalier/train/observer.h"

namespace espalier::train {

/// The file has every step of every graph, by thread, the updates, and the bytes in use. A long run has more spans than
/// `most_spans`: those of its beginning are kept.
class ESPALIER_EXPORT TraceObserver : public Observer {
 public:
  /// Refuses (ResourceError) a file that cannot be written.
  explicit TraceObserver(std::filesystem::path file, std::size_t most_spans = Trace::kMostSpans);

  void run_started(const RunStarted& event) override;
  /// Also if the run failed.
  void run_ended(const RunEnded& event) override;

  /// Spans that were left out, of a run that has ended.
  std::int64_t dropped() const { return dropped_; }

 private:
  std::filesystem::path file_;
  std::size_t most_spans_;
  std::optional<Trace> trace_;
  std::int64_t dropped_ = 0;
};

}  // namespace espalier::train
