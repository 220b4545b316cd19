// Functions that move numbers: parts, shapes, rows of tables.
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

using Handle = nb::handle;

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

}  // namespace espalier::python
