/// Measures spans of time; does nothing, and reads no clock, unless told to.
#pragma once

#include <chrono>
#include <optional>

#include "espalier/graph/statistics.h"
#include "espalier/ops/product_log.h"

namespace espalier::exec {

class Stopwatch {
 public:
  explicit Stopwatch(bool runs = true) : runs_(runs) {
    if (runs_) start_ = Clock::now();
  }
  /// Adds the time since it was made, or since the last lap, to `seconds`.
  void lap(double& seconds) {
    if (!runs_) return;
    const Clock::time_point now = Clock::now();
    seconds += std::chrono::duration<double>(now - start_).count();
    start_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool runs_;
  Clock::time_point start_;
};

/// The time of a kernel's call, divided into products, with laying their weights out, gathering their rows, and all
/// else. One within another does nothing: the outer one sees it all.
class KernelWatch {
 public:
  explicit KernelWatch(bool runs) : watch_(runs && !is_running()) {
    if (!runs || is_running()) return;
    log_.emplace();
    is_running() = true;
  }
  ~KernelWatch() {
    if (log_) is_running() = false;
  }
  KernelWatch(const KernelWatch&) = delete;
  KernelWatch& operator=(const KernelWatch&) = delete;
  void stop(bool is_product, Statistics::Seconds& seconds) {
    if (!log_) return;
    double all = 0;
    watch_.lap(all);
    const double gathering = log_->seconds_beside(ops::BesideProducts::kGathering);
    // Ops that multiply without shared weights keep no log: they are products as a whole.
    const double products = is_product && log_->products().empty()
                                ? all - gathering
                                : log_->seconds() + log_->seconds_beside(ops::BesideProducts::kPreparing);
    seconds.copying += gathering;
    seconds.products += products;
    seconds.maps += all - products - gathering;
  }

 private:
  static bool& is_running() {
    thread_local bool is = false;
    return is;
  }

  Stopwatch watch_;
  std::optional<ops::ProductLog> log_;
};

}  // namespace espalier::exec
