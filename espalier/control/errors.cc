#include "espalier/control/errors.h"

#include <fmt/format.h>

#include <utility>

namespace espalier {
namespace {

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "something that is no std::exception was thrown";
  }
}

std::string text_of(RunEnded::Why why) {
  switch (why) {
    case RunEnded::Why::kCancelled: return "run_batched: the run was cancelled";
    case RunEnded::Why::kDeadline: return "run_batched: the deadline has passed";
    case RunEnded::Why::kInstanceFailed: return "run_batched: the run ended because another instance failed";
  }
  return "";
}

}  // namespace

InstanceError::InstanceError(std::int64_t instance, std::exception_ptr cause)
    : Error(fmt::format("{}\n  in instance {} of the run", text_of(cause), instance)),
      instance_(instance),
      cause_(std::move(cause)) {}

RunEnded::RunEnded(Why why) : Error(text_of(why)), why_(why) {}

}  // namespace espalier
