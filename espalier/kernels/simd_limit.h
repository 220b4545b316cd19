/// Limits the instruction sets that kernels may use, so that tests can run the code of lesser processors.
///
/// The environment variable ESPALIER_SIMD is read once, when the library is loaded: `avx512` (no limit), `avx2` or
/// `sse4`. A processor that has less uses what it has.
#pragma once

#include <string_view>

namespace espalier::kernels {

/// Limits Highway's dispatch and oneDNN's. Only calls before the first kernel runs have an effect on oneDNN. Refuses
/// (UsageError) an unknown name.
void limit_simd(std::string_view name);

/// Refuses (UsageError) an ESPALIER_SIMD that is none of the names above.
void require_known_simd_limit();

}  // namespace espalier::kernels
