/// Runs an op's plain code over the rows of a step, and differentiates it: the derived forward and backward of an op
/// that has no kernels of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/ops/ad.h"
#include "espalier/ops/step.h"

namespace espalier {

template <class T>
using PlainFunction = void (*)(const void* attrs, const void* fields, const PlainIn<T>&, std::span<T> y);

namespace ops {

ESPALIER_EXPORT void plain_forward(PlainFunction<float> plain, const void* attrs, const StepIn& in, const StepOut& out);
ESPALIER_EXPORT void plain_backward(PlainFunction<ad::Var> plain, const void* attrs, const Saved& saved, Grads& grads);

/// The gradient of one node by each of its inputs, from its plain code. `T` is float or double.
/// An empty span in `gradients` is not wanted; the others are added to.
template <class T>
ESPALIER_EXPORT void plain_gradient(PlainFunction<ad::Var> plain, const void* attrs, const void* fields,
                                    const PlainIn<T>& in, std::span<const T> dy,
                                    std::span<const std::span<T>> gradients);

}  // namespace ops
}  // namespace espalier
