/// Places pieces of memory that live for a while so that those which never live together may share bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier::plan {

/// Lives from step `first` to step `last`, both included.
struct Lease {
  std::int64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t at = 0;  // set by place()
};

/// Sets where each lease lies, 64-byte aligned; returns how many bytes all of them take together.
/// Each takes the smallest hole it fits in, in the order of their first steps.
std::int64_t place(std::vector<Lease>& leases);

}  // namespace espalier::plan
