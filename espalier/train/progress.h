/// A progress bar: how much is done, how fast, how long it still takes, loss and accuracy.
///
/// On a terminal it is one line, drawn again at most ten times a second and fitted to the width; it uses a carriage
/// return and nothing else, so no terminal setting changes. Elsewhere (a log file, a pipe) it is a plain line every few
/// seconds.
///
///     Progress progress({.title = "epoch 1/10", .total = 90'000});
///     for (...) progress.update(done, loss, accuracy);
///     progress.finish();
///
///     epoch 1/10 ████████▌            42%  1234/s  1:05 left  loss 0.4213  acc 85.12%
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier::train {

/// Where a Progress writes and what it knows of that place; a test gives its own.
struct ProgressOutput {
  std::function<void(std::string_view)> write;
  /// Seconds on a clock that never goes back.
  std::function<double()> now;
  std::function<int()> width;
  bool terminal = false;
  bool utf8 = false;

  /// To a stream, which must outlive it. Write errors are of no concern here: the work goes on without its bar.
  ESPALIER_EXPORT static ProgressOutput to(std::FILE* stream);
};

struct ProgressOptions {
  std::string title;
  /// In units; 0 if not known, which leaves out percent, bar and time left.
  std::int64_t total = 0;
  /// Seconds between plain lines where there is no terminal.
  double line_interval = 5.0;
};

class ESPALIER_EXPORT Progress {
 public:
  /// The clock starts here. Nothing is written yet.
  explicit Progress(ProgressOptions options, ProgressOutput output = ProgressOutput::to(stderr));
  /// Ends the line if finish() was not reached, so that an error message gets a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` units in all. Accuracy is a share, 0 to 1. Costs one look at the clock when it is too early to draw.
  void update(std::int64_t done, std::optional<double> loss = {}, std::optional<double> accuracy = {});
  /// Writes the last state, with the time it took in place of the time left, and ends the line. Later calls do nothing.
  void finish();

  /// Since the start, in seconds, and in units a second (0 before there is any).
  double seconds() const;
  double rate() const;

 private:
  std::int64_t percent() const;
  std::string terminal_line();
  std::string plain_line() const;
  void draw();

  ProgressOptions options_;
  ProgressOutput output_;
  double start_ = 0;
  double now_ = 0;
  std::optional<double> last_drawn_;
  std::int64_t done_ = 0;
  std::optional<double> loss_;
  std::optional<double> accuracy_;
  int columns_drawn_ = 0;
  int room_ = -1;      // columns there were when drawn last
  int bar_width_ = 0;  // the narrowest so far in that room
  bool finished_ = false;
};

/// As in 0:09, 1:05, 2:00:00. Fractions are rounded.
ESPALIER_EXPORT std::string duration_text(double seconds);

}  // namespace espalier::train
