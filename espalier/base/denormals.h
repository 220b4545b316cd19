/// Treats denormal floats as zero for a while: arithmetic on them costs a hundred times that on others, and a decaying
/// LSTM state is full of them.
///
/// Thread safety: the setting belongs to the calling thread; destroy the object in the thread that made it.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"

namespace espalier {

/// While it lives, denormal results become zero and, on x86, denormal operands read as zero. Its destruction restores
/// what the caller had. Objects nest. Does nothing on processors other than x86-64 and aarch64.
class ESPALIER_EXPORT FlushDenormals {
 public:
  /// `flush` false switches the flushing off instead.
  explicit FlushDenormals(bool flush = true);
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

  /// Whether the calling thread flushes denormals now.
  static bool active();

 private:
  std::uint64_t saved_;
};

}  // namespace espalier
