#include "espalier/train/stop_signals.h"

#include <atomic>

namespace espalier::train {
namespace {

std::atomic<bool> signal_raised{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only touch such");

void remember(int) { signal_raised.store(true, std::memory_order_relaxed); }

}  // namespace

StopSignals::StopSignals(bool wanted) : wanted_(wanted) {
  if (!wanted_) return;
  signal_raised.store(false, std::memory_order_relaxed);
  struct sigaction action {};
  action.sa_handler = remember;
  // Without SA_RESTART a wait for a file may end early; all our file functions try again.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

StopSignals::~StopSignals() {
  if (!wanted_) return;
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

bool StopSignals::raised() const { return wanted_ && signal_raised.load(std::memory_order_relaxed); }

}  // namespace espalier::train
