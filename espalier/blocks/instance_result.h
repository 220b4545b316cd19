/// InstanceResult: what was computed of one instance: its output, and what its metric() and tap() blocks put aside.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/blocks/output.h"

namespace espalier::blocks {

class ESPALIER_EXPORT InstanceResult : public Result {
 public:
  struct Entry {
    std::string name;
    Result value;
    Result label;  // void where there is none
  };

  InstanceResult() = default;
  explicit InstanceResult(Result output) : Result(std::move(output)) {}

  /// Of metric() blocks, as the instance met them: any number, also of one name.
  std::vector<Entry> metrics;
  /// Of tap() blocks and watched ones, likewise.
  std::vector<Entry> taps;

  /// Those of one name.
  std::vector<Entry> metric(std::string_view name) const;
  std::vector<Entry> tap(std::string_view name) const;
};

}  // namespace espalier::blocks
