// Operators, and the functions that take numbers as well as tensors.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

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

}  // namespace

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

}  // namespace espalier::python
