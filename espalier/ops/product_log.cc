#include "espalier/ops/product_log.h"

#include <algorithm>
#include <chrono>

namespace espalier::ops {

ProductLog*& ProductLog::current() {
  thread_local ProductLog* newest = nullptr;
  return newest;
}

ProductLog::ProductLog() : before_(current()) { current() = this; }
ProductLog::~ProductLog() { current() = before_; }

void ProductLog::add(const Product& product, double seconds) {
  seconds_ += seconds;
  auto known = std::find_if(products_.begin(), products_.end(),
                            [&](const ProductCalls& calls) { return calls.product == product; });
  if (known == products_.end()) known = products_.insert(known, {.product = product});
  ++known->calls;
  known->seconds += seconds;
}

double ProductLog::Watch::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void ProductLog::Watch::finish() {
  const double seconds = now() - started_;
  for (ProductLog* log = current(); log != nullptr; log = log->before_) {
    if (const Product* product = std::get_if<Product>(&what_)) {
      log->add(*product, seconds);
    } else {
      Beside& beside = log->beside_[static_cast<std::size_t>(std::get<BesideProducts>(what_))];
      ++beside.calls;
      beside.seconds += seconds;
    }
  }
}

}  // namespace espalier::ops
