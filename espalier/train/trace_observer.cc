#include "espalier/train/trace_observer.h"

#include <utility>

#include "espalier/base/files.h"
#include "espalier/show/trace_file.h"

namespace espalier::train {

TraceObserver::TraceObserver(std::filesystem::path file, std::size_t most_spans)
    : file_(std::move(file)), most_spans_(most_spans) {
  ensure_writable_file(file_);
}

void TraceObserver::run_started(const RunStarted& /*event*/) { trace_.emplace(most_spans_); }

void TraceObserver::run_ended(const RunEnded& /*event*/) {
  if (!trace_) return;
  trace_->stop();
  write_trace(*trace_, file_);
  dropped_ = trace_->dropped();
  trace_.reset();
}

}  // namespace espalier::train
