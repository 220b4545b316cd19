/// Cross entropy of few classes, a vector of rows at a time: a call for each row costs more than what it computes.
///
/// NaN, infinities and accuracy are as in kernels/math.h. A row has the same bits however many others come with it, and
/// wherever it lies. All rows of a call are as many, and each has a label from 0 on, below the number of classes.
///
/// Thread safety: functions of their arguments alone; each runs in the calling thread only.
#pragma once

#include <cstdint>
#include <span>

#include "espalier/base/export.h"
#include "espalier/tensor/rows.h"

namespace espalier::kernels {

/// The most classes these are for.
inline constexpr std::int64_t kFewClasses = 256;

/// log_softmax(x) by row, and y: that of the label, with its sign changed.
ESPALIER_EXPORT void cross_entropy(const ConstRows& x, std::span<const std::int32_t> labels, const Rows& log_softmax,
                                   const Rows& y);

/// dx = dy (softmax(x) - 1 at the label), stored or added.
ESPALIER_EXPORT void cross_entropy_gradient(const ConstRows& log_softmax, std::span<const std::int32_t> labels,
                                            const ConstRows& dy, const Rows& dx, bool store);

}  // namespace espalier::kernels
