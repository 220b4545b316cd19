#include "espalier/ops/product_log.h"

#include <chrono>

namespace espalier::ops {

ProductLog*& ProductLog::current() {
  thread_local ProductLog* newest = nullptr;
  return newest;
}

ProductLog::ProductLog() : before_(current()) { current() = this; }
ProductLog::~ProductLog() { current() = before_; }

void ProductLog::add(const ProductCalls& call) {
  seconds_ += call.seconds;
  for (ProductCalls& known : products_) {
    if (known.kind != call.kind || known.rows != call.rows || known.k != call.k || known.m != call.m ||
        known.prepared != call.prepared)
      continue;
    known.calls += call.calls;
    known.seconds += call.seconds;
    return;
  }
  products_.push_back(call);
}

double ProductLog::Watch::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void ProductLog::Watch::finish() {
  call_.seconds = now() - started_;
  for (ProductLog* log = current(); log != nullptr; log = log->before_) log->add(call_);
}

}  // namespace espalier::ops
