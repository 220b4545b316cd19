// Functions that compute: reductions, maps with numbers of their own, losses.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "espalier/base/error.h"
#include "espalier/espalier.h"
#include "objects.h"
#include "ops.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using Handle = nb::handle;
using MaybeAxis = std::optional<std::int32_t>;

// sum, mean, max and min: over a list of tensors, an axis of one, or all its elements.
template <class List, class Axis, class All>
nb::object reduce(std::string_view name, Handle x, MaybeAxis axis, List list, Axis along, All all) {
  if (!is_single(x)) {
    if (axis) throw UsageError(std::string(name) + ": an axis is for a single tensor, not for a list of them");
    return apply_list(name, x, list);
  }
  if (axis) return apply(name, x, [&](Operand o) { return along(o, *axis); });
  return apply(name, x, all);
}

}  // namespace

void bind_reductions(nb::module_& module) {
  const auto def = [&](const char* name, auto function, const char* doc) {
    module.def(name, function, "x"_a, "axis"_a = nb::none(),
               nb::sig(kept("def " + std::string(name) +
                            "(x: Operand | collections.abc.Sequence[Operand], axis: int | None = None) -> Expr")),
               doc);
  };
  def(
      "sum",
      [](Handle x, MaybeAxis axis) {
        return reduce(
            "sum", x, axis, [](const Operands& o) { return sum(o); },
            [](Operand o, std::int32_t a) { return sum(o, a); }, [](Operand o) { return sum_elements(o); });
      },
      "Of a list of tensors of one shape, their sum, element by element, and of all their rows. Of one tensor, the "
      "sum\n"
      "over an axis, which is removed, or of all elements.");
  def(
      "mean",
      [](Handle x, MaybeAxis axis) {
        return reduce(
            "mean", x, axis, [](const Operands& o) { return mean(o); },
            [](Operand o, std::int32_t a) { return mean(o, a); }, [](Operand o) { return mean_elements(o); });
      },
      "Of a list of tensors of one shape, their mean, element by element, and of all their rows. Of one tensor, the\n"
      "mean over an axis, which is removed, or of all elements.");
  def(
      "max",
      [](Handle x, MaybeAxis axis) {
        return reduce(
            "max", x, axis, [](const Operands& o) { return maximum(o); },
            [](Operand o, std::int32_t a) { return max(o, a); }, [](Operand o) { return max(o.at(flatten(o)), 0); });
      },
      "Of a list of tensors of one shape, the largest, element by element. Of one tensor, the largest along an axis,\n"
      "which is removed, or of all elements.");
  def(
      "min",
      [](Handle x, MaybeAxis axis) {
        return reduce(
            "min", x, axis, [](const Operands& o) { return minimum(o); },
            [](Operand o, std::int32_t a) { return min(o, a); }, [](Operand o) { return min(o.at(flatten(o)), 0); });
      },
      "Of a list of tensors of one shape, the smallest, element by element. Of one tensor, the smallest along an "
      "axis,\n"
      "which is removed, or of all elements.");
  const auto along = [&](const char* name, auto function, const char* doc) {
    module.def(name, function, "x"_a, "axis"_a = -1,
               nb::sig(kept("def " + std::string(name) + "(x: Operand, axis: int = -1) -> Expr")), doc);
  };
  along(
      "softmax",
      [](Handle x, std::int32_t axis) {
        return apply("softmax", x, [&](Operand o) { return axis == -1 ? softmax(o) : softmax(o, axis); });
      },
      "Probabilities along an axis: e**x divided by its sum.");
  along(
      "log_softmax",
      [](Handle x, std::int32_t axis) {
        return apply("log_softmax", x, [&](Operand o) { return axis == -1 ? log_softmax(o) : log_softmax(o, axis); });
      },
      "The logarithm of softmax(x); accurate even where softmax(x) underflows to 0.");
}

void bind_maps(nb::module_& module) {
  module.def(
      "leaky_relu",
      [](Handle x, double slope) { return apply("leaky_relu", x, [&](Operand o) { return leaky_relu(o, slope); }); },
      "x"_a, "slope"_a = 0.01, nb::sig("def leaky_relu(x: Operand, slope: float = 0.01) -> Expr"),
      "x above 0, and slope * x below.");
  module.def(
      "elu", [](Handle x, double alpha) { return apply("elu", x, [&](Operand o) { return elu(o, alpha); }); }, "x"_a,
      "alpha"_a = 1.0, nb::sig("def elu(x: Operand, alpha: float = 1.0) -> Expr"),
      "x above 0, and alpha * (e**x - 1) below.");
  module.def(
      "clamp",
      [](Handle x, double low, double high) {
        return apply("clamp", x, [&](Operand o) { return clamp(o, low, high); });
      },
      "x"_a, "low"_a, "high"_a, nb::sig("def clamp(x: Operand, low: float, high: float) -> Expr"),
      "x, but at least low and at most high.");
  module.def(
      "pow", [](Handle x, double exponent) { return apply("pow", x, [&](Operand o) { return pow(o, exponent); }); },
      "x"_a, "exponent"_a, nb::sig("def pow(x: Operand, exponent: float) -> Expr"), "x to a constant power.");
  module.def(
      "scale", [](Handle x, double factor) { return apply("scale", x, [&](Operand o) { return scale(o, factor); }); },
      "x"_a, "factor"_a, nb::sig("def scale(x: Operand, factor: float) -> Expr"),
      "x times a number, which may differ\n"
      "between nodes that run together.");
  module.def(
      "shift",
      [](Handle x, double constant) { return apply("shift", x, [&](Operand o) { return shift(o, constant); }); }, "x"_a,
      "constant"_a, nb::sig("def shift(x: Operand, constant: float) -> Expr"),
      "x plus a number, which may differ\n"
      "between nodes that run together.");
  module.def(
      "dropout", [](Handle x, double rate) { return apply("dropout", x, [&](Operand o) { return dropout(o, rate); }); },
      "x"_a, "rate"_a, nb::sig("def dropout(x: Operand, rate: float) -> Expr"),
      "Every element with probability `rate` replaced by 0, the others divided by 1 - rate. Gives x itself\n"
      "outside training.");
  module.def(
      "layer_norm",
      [](Handle x, Handle gain, Handle bias, float epsilon) {
        return apply("layer_norm", x, gain, [&](Operand o, Operand g) {
          return layer_norm(o, g, is_parameter(bias) ? o.at(nb::inst_ptr<Parameter>(bias)) : o.at(node_of(bias).expr),
                            epsilon);
        });
      },
      "x"_a, "gain"_a, "bias"_a, "epsilon"_a = 1e-5F,
      nb::sig(
          "def layer_norm(x: Operand, gain: Expr | Parameter, bias: Expr | Parameter, epsilon: float = 1e-05) -> Expr"),
      "x with mean 0 and variance 1, then times gain plus bias, elementwise.");
}

void bind_losses(nb::module_& module) {
  module.def(
      "cross_entropy",
      [](Handle x, Handle label) {
        return apply("cross_entropy", x, [&](Operand o) {
          if (PyLong_Check(label.ptr()) != 0) return cross_entropy(o, nb::cast<std::int32_t>(label));
          if (PyIndex_Check(label.ptr()) != 0 && nb::hasattr(label, "ndim") && nb::cast<int>(label.attr("ndim")) == 0)
            return cross_entropy(o, nb::cast<std::int32_t>(nb::steal(PyNumber_Index(label.ptr()))));
          return cross_entropy_rows(o, integers_of(label));
        });
      },
      "x"_a, "label"_a,
      nb::sig(
          "def cross_entropy(x: Operand, label: int | collections.abc.Sequence[int] | numpy.typing.NDArray) -> Expr"),
      "-log of the probability that softmax(x) gives to `label`, in nats. For a node with many rows, a label per\n"
      "row.");
  module.def(
      "hinge",
      [](Handle x, std::int32_t label, double margin) {
        return apply("hinge", x, [&](Operand o) { return hinge(o, label, margin); });
      },
      "x"_a, "label"_a, "margin"_a = 1.0, nb::sig("def hinge(x: Operand, label: int, margin: float = 1.0) -> Expr"),
      "By how much the score of `label` fails to exceed that of each other class by `margin`, summed.");
  module.def(
      "huber",
      [](Handle x, Handle target, double delta) {
        return apply("huber", x, target, [&](Operand a, Operand b) { return huber(a, b, delta); });
      },
      "x"_a, "target"_a, "delta"_a = 1.0, nb::sig("def huber(x: Operand, target: Operand, delta: float = 1.0) -> Expr"),
      "The mean of Huber's penalty: squared near the target, linear further away than delta.");
  module.def(
      "binary_cross_entropy",
      [](Handle x, Handle t) {
        if (is_number(t))
          return apply("binary_cross_entropy", x, [&](Operand o) { return binary_cross_entropy(o, number(t)); });
        return apply("binary_cross_entropy", x, t, [](Operand a, Operand b) { return binary_cross_entropy(a, b); });
      },
      "x"_a, "t"_a, nb::sig("def binary_cross_entropy(x: Operand, t: Operand) -> Expr"),
      "The mean, over the elements, of the binary cross-entropy of targets t, between 0 and 1, and logits x.");
}

}  // namespace espalier::python
