/// What ends an instance or a run before its time.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "espalier/base/error.h"
#include "espalier/base/export.h"

namespace espalier {

/// The function of one instance threw: the text is that of its exception, with the number of the instance.
class ESPALIER_EXPORT InstanceError : public Error {
 public:
  InstanceError(std::int64_t instance, std::exception_ptr cause);

  /// Its number in the run, from 0.
  std::int64_t instance() const { return instance_; }
  /// What was thrown.
  std::exception_ptr cause() const { return cause_; }

 private:
  std::int64_t instance_;
  std::exception_ptr cause_;
};

/// Thrown into the instances of a run that is ended, where they wait; and, if no instance failed, to who started it.
class ESPALIER_EXPORT RunEnded : public Error {
 public:
  enum class Why : std::int32_t { kCancelled, kDeadline, kInstanceFailed };

  explicit RunEnded(Why why);
  Why why() const { return why_; }

 private:
  Why why_;
};

}  // namespace espalier
