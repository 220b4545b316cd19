/// StopSignals: SIGINT and SIGTERM as a question that a loop asks. Internal.
#pragma once

#include <csignal>

namespace espalier::train {

/// While it lives (if wanted), the first SIGINT or SIGTERM of the process is only remembered; the second ends the
/// process as if nothing had been set. The destructor restores what was set before.
class StopSignals {
 public:
  explicit StopSignals(bool wanted);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether one has come.
  bool raised() const;

 private:
  bool wanted_;
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

}  // namespace espalier::train
