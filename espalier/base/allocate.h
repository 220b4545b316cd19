/// Memory for numbers: aligned to cache lines, and a ResourceError with the numbers where there is not enough.
///
/// Thread safety: everything here may be called from any thread at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier {

/// Frees what allocate_bytes() or allocate_zeros() gave.
struct ESPALIER_EXPORT FreeBytes {
  void operator()(std::byte* data) const;

  void* zeros = nullptr;  // of pages that the system gave as zeros: where they begin
};
using Bytes = std::unique_ptr<std::byte[], FreeBytes>;  // NOLINT(modernize-avoid-c-arrays): of unknown size

/// At least one byte, aligned to 64, not initialised. Refuses (ResourceError: "what: ...") more than there is.
ESPALIER_EXPORT Bytes allocate_bytes(std::size_t bytes, std::string_view what);
/// The same, all zeros. Many are pages that the system fills with zeros when they are first touched: numbers that
/// nobody reads or writes cost neither time nor memory.
ESPALIER_EXPORT Bytes allocate_zeros(std::size_t bytes, std::string_view what);

/// Throws a ResourceError: "what: <bytes> bytes are needed, more than there is memory for".
[[noreturn]] ESPALIER_EXPORT void refuse_bytes(std::size_t bytes, std::string_view what);

}  // namespace espalier
