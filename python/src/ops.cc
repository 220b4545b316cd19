// The functions of ops. Those without numbers of their own are made from the registry of ops, so that a new one is
// there without a line here; the others are written out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>
#include <string>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/espalier.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using Handle = nb::handle;
using MaybeAxis = std::optional<std::int32_t>;

// Texts that bindings refer to for as long as the module lives.
const char* kept(std::string text) {
  static auto* const texts = new std::set<std::string>();
  return texts->insert(std::move(text)).first->c_str();
}

template <class... Arguments>
nb::object record(const OpInfo& info, Arguments... arguments) {
  Call call(info.name);
  (call.look_at(arguments), ...);
  const std::array<Operand, sizeof...(Arguments)> operands{call.operand(arguments)...};
  return call.wrap(graph_of(info, operands).record(info, nullptr, nullptr, operands));
}

nb::object record_list(const OpInfo& info, Handle sequence) {
  Call call(info.name);
  const ExprList list = expr_list(call, sequence);
  const Operands operands(std::span<const Expr>(list.data(), list.size()), call.where());
  return call.wrap(graph_of(info, operands).record(info, nullptr, nullptr, operands));
}

bool has_no_numbers(const OpInfo& info) { return info.attr_words == 0 && info.field_bytes == 0; }

std::string signature(const OpInfo& info, const std::string& name) {
  std::string text = "def " + name + "(";
  for (std::size_t i = 0; i < info.inputs.size(); ++i)
    text += (i > 0 ? ", " : "") + std::string(info.inputs[i].name) +
            (info.takes_any_number() ? ": collections.abc.Sequence[Operand]" : ": Operand");
  return text + ") -> Expr";
}

void bind_one(nb::module_& module, const OpInfo& info) {
  const char* const name = kept(std::string(info.name));
  const nb::sig sig(kept(signature(info, name)));
  const char* const doc = kept(std::string(info.contract));
  const auto argument = [&](std::size_t i) { return nb::arg(kept(std::string(info.inputs[i].name))); };
  if (info.takes_any_number()) {
    module.def(
        name, [&info](Handle x) { return record_list(info, x); }, argument(0), sig, doc);
    return;
  }
  switch (info.inputs.size()) {
    case 1:
      module.def(
          name, [&info](Handle a) { return record(info, a); }, argument(0), sig, doc);
      return;
    case 2:
      module.def(
          name, [&info](Handle a, Handle b) { return record(info, a, b); }, argument(0), argument(1), sig, doc);
      return;
    case 3:
      module.def(
          name, [&info](Handle a, Handle b, Handle c) { return record(info, a, b, c); }, argument(0), argument(1),
          argument(2), sig, doc);
      return;
    default: throw InternalError("bindings: the op " + std::string(info.name) + " has too many inputs");
  }
}

template <class F>
nb::object apply(std::string_view name, Handle x, F f) {
  Call call(name);
  return call.wrap(f(call.operand(x)));
}
template <class F>
nb::object apply(std::string_view name, Handle x, Handle y, F f) {
  Call call(name);
  call.look_at(x);
  call.look_at(y);
  const Operand first = call.operand(x);
  return call.wrap(f(first, call.operand(y)));
}
template <class F>
nb::object apply_list(std::string_view name, Handle x, F f) {
  Call call(name);
  const ExprList list = expr_list(call, x);
  return call.wrap(f(Operands(std::span<const Expr>(list.data(), list.size()), call.where())));
}

bool is_number(Handle h) { return PyFloat_Check(h.ptr()) != 0 || PyLong_Check(h.ptr()) != 0; }
bool is_single(Handle h) { return is_expr(h) || is_parameter(h); }
double number(Handle h) { return nb::cast<double>(h); }

nb::object add_any(Handle a, Handle b) {
  if (is_number(b)) return apply("add", a, [&](Operand x) { return x + number(b); });
  if (is_number(a)) return apply("add", b, [&](Operand x) { return number(a) + x; });
  return apply("add", a, b, [](Operand x, Operand y) { return add(x, y); });
}
nb::object sub_any(Handle a, Handle b) {
  if (is_number(b)) return apply("sub", a, [&](Operand x) { return x - number(b); });
  if (is_number(a)) return apply("sub", b, [&](Operand x) { return number(a) - x; });
  return apply("sub", a, b, [](Operand x, Operand y) { return sub(x, y); });
}
nb::object mul_any(Handle a, Handle b) {
  if (is_number(b)) return apply("mul", a, [&](Operand x) { return x * number(b); });
  if (is_number(a)) return apply("mul", b, [&](Operand x) { return number(a) * x; });
  return apply("mul", a, b, [](Operand x, Operand y) { return mul(x, y); });
}
nb::object div_any(Handle a, Handle b) {
  if (is_number(b)) return apply("div", a, [&](Operand x) { return x / number(b); });
  if (is_number(a)) return apply("div", b, [&](Operand x) { return number(a) / x; });
  return apply("div", a, b, [](Operand x, Operand y) { return div(x, y); });
}

// Rank 1 times rank 2, rank 2 times rank 1, and so on, as @ does it in NumPy.
nb::object product(Handle a, Handle b) {
  return apply("matmul", a, b, [](Operand x, Operand y) {
    const std::int32_t left = x.shape().rank();
    const std::int32_t right = y.shape().rank();
    if (left == 1 && right == 1) return dot(x, y);
    if (left == 1) return linear(x, y);
    if (right == 1) return matvec(x, y);
    return matmul(x, y);
  });
}

// Of Expr and Parameter.
void bind_operators(PyTypeObject* type) {
  nb::handle expr(reinterpret_cast<PyObject*>(type));
  const auto method = [&](const char* name, auto function) {
    expr.attr(name) = nb::cpp_function(function, nb::scope(expr), nb::name(name), nb::is_method(), nb::is_operator(),
                                       nb::sig(kept("def " + std::string(name) + "(self, other: Operand, /) -> Expr")));
  };
  method("__add__", &add_any);
  method("__sub__", &sub_any);
  method("__mul__", &mul_any);
  method("__truediv__", &div_any);
  method("__matmul__", &product);
  method("__radd__", [](Handle a, Handle b) { return add_any(b, a); });
  method("__rsub__", [](Handle a, Handle b) { return sub_any(b, a); });
  method("__rmul__", [](Handle a, Handle b) { return mul_any(b, a); });
  method("__rtruediv__", [](Handle a, Handle b) { return div_any(b, a); });
  method("__rmatmul__", [](Handle a, Handle b) { return product(b, a); });
  method("__pow__", [](Handle x, Handle exponent) {
    return apply("pow", x, [&](Operand o) { return pow(o, number(exponent)); });
  });
  expr.attr("__neg__") =
      nb::cpp_function([](Handle x) { return apply("negate", x, [](Operand o) { return negate(o); }); },
                       nb::scope(expr), nb::name("__neg__"), nb::is_method(), nb::sig("def __neg__(self, /) -> Expr"));
}

void bind_arithmetic(nb::module_& module) {
  const auto pair = [&](const char* name, auto function, const char* doc) {
    module.def(name, function, "a"_a, "b"_a,
               nb::sig(kept("def " + std::string(name) + "(a: Operand, b: Operand) -> Expr")), doc);
  };
  pair("add", &add_any, "a + b, elementwise; one of them may have rank 0 or be a number.");
  pair("sub", &sub_any, "a - b, elementwise; one of them may have rank 0 or be a number.");
  pair("mul", &mul_any, "a * b, elementwise; one of them may have rank 0 or be a number.");
  pair("div", &div_any, "a / b, elementwise; one of them may have rank 0 or be a number.");

  bind_operators(g_expr_type);
  bind_operators(g_parameter_type);
}

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

void bind_moves(nb::module_& module) {
  module.def(
      "concat",
      [](Handle x, std::int32_t axis) {
        return apply_list("concat", x, [&](const Operands& o) { return concat(o, axis); });
      },
      "x"_a, "axis"_a = 0, nb::sig("def concat(x: collections.abc.Sequence[Operand], axis: int = 0) -> Expr"),
      "Tensors one after the other along an axis.");
  module.def(
      "stack",
      [](Handle x, std::int32_t axis) {
        return apply_list("stack", x, [&](const Operands& o) { return stack(o, axis); });
      },
      "x"_a, "axis"_a = 0, nb::sig("def stack(x: collections.abc.Sequence[Operand], axis: int = 0) -> Expr"),
      "Tensors of one shape along a new axis.");
  module.def(
      "slice",
      [](Handle x, std::int32_t begin, std::int32_t end, std::int32_t axis) {
        return apply("slice", x, [&](Operand o) { return slice(o, begin, end, axis); });
      },
      "x"_a, "begin"_a, "end"_a, "axis"_a = 0,
      nb::sig("def slice(x: Operand, begin: int, end: int, axis: int = 0) -> Expr"),
      "Elements begin to end - 1 along an axis.");
  module.def(
      "split",
      [](Handle x, Handle parts, std::int32_t axis) {
        Call call("split");
        const Operand operand = call.operand(x);
        const std::vector<Expr> results = PyLong_Check(parts.ptr()) != 0
                                              ? split(operand, nb::cast<std::int32_t>(parts), axis)
                                              : split(operand, std::span<const std::int32_t>(integers_of(parts)), axis);
        nb::list list;
        for (const Expr& result : results) list.append(call.wrap(result));
        return list;
      },
      "x"_a, "parts"_a, "axis"_a = 0,
      nb::sig("def split(x: Operand, parts: int | collections.abc.Sequence[int], axis: int = 0) -> list[Expr]"),
      "Slices along an axis, one after the other: so many of equal size, or of the sizes in a list.");
  module.def(
      "reshape",
      [](Handle x, Handle shape) {
        return apply("reshape", x, [&](Operand o) { return reshape(o, shape_of(shape)); });
      },
      "x"_a, "shape"_a, nb::sig("def reshape(x: Operand, shape: int | collections.abc.Sequence[int]) -> Expr"),
      "The same elements, in row-major order, in another shape.");
  module.def(
      "flatten", [](Handle x) { return apply("flatten", x, [](Operand o) { return flatten(o); }); }, "x"_a,
      nb::sig("def flatten(x: Operand) -> Expr"), "All elements as one vector.");
  module.def(
      "broadcast",
      [](Handle x, Handle shape) {
        return apply("broadcast", x, [&](Operand o) { return broadcast(o, shape_of(shape)); });
      },
      "x"_a, "shape"_a, nb::sig("def broadcast(x: Operand, shape: int | collections.abc.Sequence[int]) -> Expr"),
      "A tensor of `shape` filled with x, which must have rank 0.");
  module.def(
      "transpose", [](Handle x) { return apply("transpose", x, [](Operand o) { return transpose(o); }); }, "x"_a,
      nb::sig("def transpose(x: Operand) -> Expr"), "The transpose of a matrix.");
  module.def(
      "pick", [](Handle x, std::int32_t index) { return apply("pick", x, [&](Operand o) { return pick(o, index); }); },
      "x"_a, "index"_a, nb::sig("def pick(x: Operand, index: int) -> Expr"), "Element `index` of a vector.");
  module.def(
      "max_pool",
      [](Handle x, std::optional<std::int32_t> window) {
        return apply("max_pool", x, [&](Operand o) { return window ? max_pool(o, *window) : max_pool(o); });
      },
      "x"_a, "window"_a = nb::none(), nb::sig("def max_pool(x: Operand, window: int | None = None) -> Expr"),
      "The largest of each channel of a sequence, [length, channels]: of all of it, or in windows one after the\n"
      "other, the last of which may be shorter.");
  module.def(
      "conv1d",
      [](Handle x, Handle W, bool same) {
        return apply("conv1d", x, W,
                     [&](Operand o, Operand w) { return conv1d(o, w, same ? Padding::kSame : Padding::kNone); });
      },
      "x"_a, "W"_a, "same"_a = false, nb::sig("def conv1d(x: Operand, W: Operand, same: bool = False) -> Expr"),
      "A filter over every `width` neighbouring vectors of a sequence. W holds width * channels rows: those for\n"
      "the first vector, then those for the second, and so on. With `same`, zeros are added at both ends, so\n"
      "that the result is as long as the sequence.");
}

void bind_rows(nb::module_& module) {
  module.def(
      "row", [](Handle x, std::int32_t number) { return apply("row", x, [&](Operand o) { return row(o, number); }); },
      "x"_a, "number"_a, nb::sig("def row(x: Expr, number: int) -> Expr"),
      "Row `number` of a node with many rows, as a node of its own.");
  module.def(
      "rows", [](Handle x) { return apply_list("rows", x, [](const Operands& o) { return rows(o); }); }, "x"_a,
      nb::sig("def rows(x: collections.abc.Sequence[Operand]) -> Expr"),
      "One node with the rows of all of x, one after the other.");
  module.def(
      "first_rows",
      [](Handle x, std::int32_t count) {
        return apply("first_rows", x, [&](Operand o) { return first_rows(o, count); });
      },
      "x"_a, "count"_a, nb::sig("def first_rows(x: Expr, count: int) -> Expr"),
      "The first rows of a node with many rows, as a node with that many. Copies nothing.");
  module.def(
      "join_rows",
      [](Handle x, std::int32_t count) {
        return apply("join_rows", x, [&](Operand o) { return join_rows(o, count); });
      },
      "x"_a, "count"_a, nb::sig("def join_rows(x: Expr, count: int) -> Expr"),
      "Joins every `count` rows of a node with many rows into one row. Copies nothing.");
  module.def(
      "lookup",
      [](Handle table, Handle id) {
        Call call("lookup");
        if (is_parameter(table)) {
          const auto& parameter = *nb::inst_ptr<Parameter>(table);
          Graph& graph = call.open();
          const SourceLine where = call.where();
          return call.wrap(PyIndex_Check(id.ptr()) != 0 && PySequence_Check(id.ptr()) == 0
                               ? lookup(graph, parameter, nb::cast<std::int32_t>(id), where.file(), where.line())
                               : lookup_rows(graph, parameter, integers_of(id), where.file(), where.line()));
        }
        return call.wrap(lookup(call.operand(table), nb::cast<std::int32_t>(id)));
      },
      "table"_a, "row"_a,
      nb::sig("def lookup(table: Expr | Parameter, row: int | collections.abc.Sequence[int] | numpy.typing.NDArray) -> "
              "Expr"),
      "A row of a table, which is a parameter or computed from parameters only. Several rows of a parameter\n"
      "become one node with many rows.");
}

}  // namespace

void bind_ops(nb::module_& module) {
  bind_arithmetic(module);
  bind_reductions(module);
  bind_maps(module);
  bind_losses(module);
  bind_moves(module);
  bind_rows(module);
  for (std::int32_t i = 0; i < op_count(); ++i) {
    const OpInfo& info = op_info(OpId{i});
    if (has_no_numbers(info) && info.kind != Kind::kLeaf && !nb::hasattr(module, std::string(info.name).c_str()))
      bind_one(module, info);
  }
  nb::list names;
  for (std::int32_t i = 0; i < op_count(); ++i) names.append(nb::cast(std::string(op_info(OpId{i}).name)));
  module.attr("op_names") = nb::tuple(names);
}

}  // namespace espalier::python
