/// Places pieces of memory that live for a while so that those which never live together may share bytes.
///
/// Thread safety: a pure function, each thread with memory of its own.
#pragma once

#include <cstdint>
#include <span>

namespace espalier::plan {

/// Lives from step `first` to step `last`, both included.
struct Lease {
  std::int64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int64_t at = 0;  // set by place()
};

/// Sets where each lease lies, 64-byte aligned; returns how many bytes all of them take together. In the order of their
/// first steps each takes a hole of nearly the smallest size that it fits in.
std::int64_t place(std::span<Lease> leases);

/// As if all lived at the same time: one after the other.
std::int64_t place_apart(std::span<Lease> leases);

}  // namespace espalier::plan
