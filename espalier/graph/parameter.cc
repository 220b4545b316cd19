#include "espalier/graph/parameter.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

std::uint64_t next_uid() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Parameter::Parameter(std::string name, Tensor value)
    : name_(std::move(name)), value_(std::move(value)), uid_(next_uid()) {}

void Parameter::replace_value(Tensor value) {
  if (value.shape() != shape())
    throw UsageError(fmt::format("parameter \"{}\" has shape {}, and {} was given", name_, shape().to_string(),
                                 value.shape().to_string()));
  value_ = std::move(value);
  ++version_;
}

}  // namespace espalier
