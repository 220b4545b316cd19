/// Initialisers: how the first numbers of a parameter are chosen.
#pragma once

#include <functional>
#include <string>

#include "espalier/base/export.h"
#include "espalier/base/random.h"
#include "espalier/base/shape.h"
#include "espalier/tensor/tensor.h"

namespace espalier::init {

/// Fills a float32 tensor of the parameter's shape; it may give it another element type, which the Model converts to
/// its own. Weights are [in, out]: fan-in is the product of all sizes but the last, fan-out the last.
using Initializer = std::function<void(Tensor& value, Random& random)>;

ESPALIER_EXPORT Initializer constant(double value);
ESPALIER_EXPORT Initializer zeros();
ESPALIER_EXPORT Initializer uniform(double low, double high);
ESPALIER_EXPORT Initializer normal(double mean, double deviation);
/// Glorot and Bengio (2010): uniform in +-gain * sqrt(6 / (fan-in + fan-out)).
ESPALIER_EXPORT Initializer glorot(double gain = 1);
/// He et al. (2015): normal with deviation gain * sqrt(2 / fan-in).
ESPALIER_EXPORT Initializer he(double gain = 1);
/// Sussillo and Abbott (2014): uniform in +-factor * sqrt(3 / fan-in), so that the variance is factor^2 / fan-in.
ESPALIER_EXPORT Initializer unit_scaling(double factor = 1);
/// Normal, but drawn again where it is further than two deviations from the mean.
ESPALIER_EXPORT Initializer truncated_normal(double mean, double deviation);
/// Saxe et al. (2014): orthonormal columns or rows, whichever are fewer. Refuses other ranks than 2.
ESPALIER_EXPORT Initializer orthogonal(double gain = 1);
/// The tensor `name` of a safetensors file. Refuses another shape, and what the reader refuses.
ESPALIER_EXPORT Initializer from_file(std::string path, std::string name);
/// These numbers. Refuses another shape.
ESPALIER_EXPORT Initializer from_tensor(Tensor value);
/// The first rows of a matrix are these, and the others as `rest` draws them. Refuses more rows than there are, and
/// rows of another size.
ESPALIER_EXPORT Initializer from_rows(Tensor rows, Initializer rest);

}  // namespace espalier::init
