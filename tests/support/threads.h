/// A number of threads for a part of a test.
#pragma once

#include "espalier/base/threads.h"

namespace espalier::testing {

/// Sets the number of threads, and restores the one before.
class Threads {
 public:
  explicit Threads(int count) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = thread_count();
};

}  // namespace espalier::testing
