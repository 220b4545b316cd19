/// The sum of many rows: what the gradient of a bias is.
///
/// Thread safety: a function of its arguments alone; runs in the calling thread only.
#pragma once

#include "espalier/base/export.h"
#include "espalier/tensor/rows.h"

namespace espalier::kernels {

/// sum += the rows, one after the other: the bits do not depend on where they lie.
ESPALIER_EXPORT void add_rows(const ConstRows& rows, float* sum);

}  // namespace espalier::kernels
