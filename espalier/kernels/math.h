/// Elementwise functions over spans of float32, vectorised for the processor found at run time.
///
/// NaN, infinities and zeros (with their signs) behave as in <cmath>; accuracy is stated in simd_math-inl.h. Denormals
/// are right unless the caller flushes them (espalier/base/denormals.h). x and y have the same size (refused
/// otherwise), and are the same memory or do not overlap.
///
/// Thread safety: pure functions; each runs in the calling thread only.
#pragma once

#include <span>

#include "espalier/base/export.h"

namespace espalier::kernels {

ESPALIER_EXPORT void exp(std::span<const float> x, std::span<float> y);
ESPALIER_EXPORT void expm1(std::span<const float> x, std::span<float> y);
ESPALIER_EXPORT void log(std::span<const float> x, std::span<float> y);
ESPALIER_EXPORT void log1p(std::span<const float> x, std::span<float> y);
ESPALIER_EXPORT void tanh(std::span<const float> x, std::span<float> y);
/// 1 / (1 + e^-x)
ESPALIER_EXPORT void sigmoid(std::span<const float> x, std::span<float> y);
ESPALIER_EXPORT void erf(std::span<const float> x, std::span<float> y);
/// log(1 + e^x)
ESPALIER_EXPORT void softplus(std::span<const float> x, std::span<float> y);

}  // namespace espalier::kernels
