// espalier.Recursion, its kinds, and Structure.
#include "recursion.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "function.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

// The children of all rows, as [rows, children] numbers.
struct ChildTable {
  std::vector<std::int32_t> numbers;
  std::size_t rows = 0;
  std::size_t width = 0;

  std::span<const std::int32_t> of(std::size_t row) const {
    const std::span<const std::int32_t> all(numbers.data() + row * width, width);
    for (const std::int32_t child : all)
      if (child != Structure::kMissing) return all;
    return {};
  }
};

ChildTable child_table(nb::handle array) {
  const nb::object numbers = nb::module_::import_("numpy").attr("asarray")(array);
  if (nb::cast<int>(numbers.attr("ndim")) != 2)
    throw UsageError("Structure: children are an array [rows, most children], with -1 for those that are missing");
  const nb::object shape = numbers.attr("shape");
  return {integers_of(numbers.attr("ravel")()), nb::cast<std::size_t>(shape[0]), nb::cast<std::size_t>(shape[1])};
}

void require_length(const char* what, std::size_t length, std::size_t rows) {
  if (length != rows)
    throw UsageError(std::string("Structure: ") + what + " has " + std::to_string(length) + " numbers, and there are " +
                     std::to_string(rows) + " rows");
}

// Kinds default to 0 for rows without children and 1 for others; rows without children read the rows of x in order.
Structure tree_of(nb::handle children, nb::handle kind, nb::handle x) {
  const ChildTable table = child_table(children);
  std::vector<std::int32_t> kinds;
  std::vector<std::int32_t> reads;
  if (!kind.is_none()) require_length("kind", (kinds = integers_of(kind)).size(), table.rows);
  if (!x.is_none()) require_length("x", (reads = integers_of(x)).size(), table.rows);
  Structure structure;
  std::int32_t leaves = 0;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::span<const std::int32_t> below = table.of(row);
    const std::int32_t of_kind = kinds.empty() ? (below.empty() ? 0 : 1) : kinds[row];
    const std::int32_t read = !reads.empty() ? reads[row] : below.empty() ? leaves++ : Structure::kNoX;
    structure.add(KindId{of_kind}, read, below);
  }
  return structure;
}

nb::list state_of_structure(const Structure& structure) {
  nb::list rows;
  for (std::int32_t row = 0; row < structure.size(); ++row) {
    const auto children = structure.children(row);
    rows.append(nb::make_tuple(static_cast<int>(structure.kind(row)), structure.x(row),
                               std::vector<std::int32_t>(children.begin(), children.end())));
  }
  return rows;
}

void set_structure(Structure* self, const nb::list& rows) {
  new (self) Structure();
  for (const nb::handle row : rows)
    self->add(KindId{nb::cast<std::int32_t>(row[0])}, nb::cast<std::int32_t>(row[1]), integers_of(row[2]));
}

void bind_structure(nb::module_& module) {
  nb::class_<Structure>(module, "Structure", R"(The rows of one tree, graph or sequence, as data for ``.rows()``.

A row has a kind, may read a row of x, and reads the states of its children, which are other rows.

>>> import espalier as esp
>>> s = esp.Structure.tree([[-1, -1], [-1, -1], [0, 1]])  # two leaves and their parent
>>> len(s)
3
>>> s.kind(2), s.x(1), s.children(2)
(1, 1, [0, 1]))")
      .def(nb::init<>())
      .def(
          "add",
          [](Structure& self, std::int32_t kind, std::int32_t x, nb::handle children) {
            return self.add(KindId{kind}, x, integers_of(children));
          },
          "kind"_a, "x"_a = Structure::kNoX, "children"_a = nb::make_tuple(),
          nb::sig("def add(self, kind: int, x: int = -1, children: collections.abc.Sequence[int] = ()) -> int"),
          "Adds a row and gives its number; -1 is no x, and a missing child. Children may be added later.")
      .def_static(
          "tree", &tree_of, "children"_a, "kind"_a.none() = nb::none(), "x"_a.none() = nb::none(),
          nb::sig("def tree(children: numpy.typing.ArrayLike, kind: numpy.typing.ArrayLike | None = None, "
                  "x: numpy.typing.ArrayLike | None = None) -> Structure"),
          "All rows at once. children: [rows, most children], where -1 is a missing child, and a row of -1 has\n"
          "none at all. kind: by default 0 for rows without children, 1 for others. x: the row of x that each\n"
          "row reads, or -1; by default rows without children read those of x in order.")
      .def_static(
          "sequence",
          [](std::int32_t length, std::int32_t kind, bool from_end) {
            return Structure::sequence(length, KindId{kind}, from_end);
          },
          "length"_a, "kind"_a = 0, "from_end"_a = false,
          "The elements of a sequence; the child of each is the one before it, or after it if it is read from its end.")
      .def("__getstate__", &state_of_structure)
      .def("__setstate__", &set_structure)
      .def("__len__", &Structure::size)
      .def(
          "kind", [](const Structure& self, std::int32_t row) { return static_cast<int>(self.kind(row)); }, "row"_a,
          "The kind of a row.")
      .def("x", &Structure::x, "row"_a, "The row of x that a row reads, or -1.")
      .def(
          "children",
          [](const Structure& self, std::int32_t row) {
            const auto list = self.children(row);
            return std::vector<std::int32_t>(list.begin(), list.end());
          },
          "row"_a, "The children of a row.");
}

// A kind as Python gives it, until a Recursion is made.
struct KindObject {
  std::string name;
  std::int32_t children;
  bool takes_x;
  SharedFunction function;
  SharedFunction message;  // of each child, if there may be any number
};

// Calls a function of a kind: the row of x, then the children's states, each an Expr or a tuple of its parts.
void call_kind(const std::string& what, const SharedFunction& function, bool takes_x, std::size_t children,
               std::span<const Expr> in, ExprList& out) {
  const nb::object graph = graph_object(in, graph_stack().empty() ? nb::handle() : graph_stack().back().object);
  std::optional<TraceScope> scope;
  if (!in.empty() && !graph.is_valid()) scope.emplace(in[0].graph());
  nb::list arguments;
  const auto node = [&](const Expr& expr) { return nb::cast(NodeRef{expr, graph}); };
  std::size_t at = 0;
  if (takes_x) arguments.append(node(in[at++]));
  const std::size_t parts = children == 0 ? 0 : (in.size() - at) / children;
  for (std::size_t child = 0; child < children; ++child) {
    nb::list state;
    for (std::size_t part = 0; part < parts; ++part) state.append(node(in[at++]));
    arguments.append(parts == 1 ? nb::object(state[0]) : nb::object(nb::tuple(state)));
  }
  const nb::object result = nb::steal(PyObject_CallObject(function->callable.ptr(), nb::tuple(arguments).ptr()));
  if (!result.is_valid()) nb::raise_python_error();
  Pattern pattern;
  out.clear();
  flatten_result(result, what, pattern, out);
}

RecursionKind kind_of(const std::string& recursion, const KindObject& given) {
  const auto none = [](std::span<const Expr>) { return Expr(); };  // replaced below
  const TakesX takes = given.takes_x ? TakesX::kYes : TakesX::kNo;
  RecursionKind kind(given.name, given.children, none, takes);
  const std::string what = "recursion \"" + recursion + "\", kind \"" + given.name + "\"";
  const bool any = given.children == RecursionKind::kAnyChildren;
  const auto children = static_cast<std::size_t>(any ? 1 : given.children);
  const auto calling = [&](const SharedFunction& function) -> RecursionKind::Function {
    return [what, function, takes_x = given.takes_x, children](std::span<const Expr> in, ExprList& out) {
      call_kind(what, function, takes_x, children, in, out);
    };
  };
  kind.function = calling(given.function);
  if (any) kind.message = calling(given.message);
  return kind;
}

struct RecursionObject {
  Recursion recursion;
  std::vector<SharedFunction> functions;
};

void make_recursion(RecursionObject* self, std::string name, const std::vector<nb::handle>& given, nb::handle state) {
  std::vector<RecursionKind> kinds;
  std::vector<SharedFunction> functions;
  for (const nb::handle item : given) {
    const KindObject& kind = nb::cast<const KindObject&>(item);
    kinds.push_back(kind_of(name, kind));
    functions.push_back(kind.function);
    if (kind.message) functions.push_back(kind.message);
  }
  std::vector<Shape> shapes;
  if (!state.is_none())
    for (const nb::handle shape : nb::iter(state)) shapes.push_back(shape_of(shape));
  new (self) RecursionObject{Recursion(std::move(name), std::move(kinds), std::move(shapes)), std::move(functions)};
}

nb::object run_recursion(RecursionObject& self, nb::handle x, nb::handle structure) {
  Call call("recursion");
  const Operand operand = call.operand(x);
  const TraceLock lock;
  graph_stack().push_back({&operand.expr().graph(), call.graph()});
  struct Leave {
    ~Leave() { graph_stack().pop_back(); }
  } const leave;
  const std::vector<Expr> states = self.recursion(operand, structure_of(structure));
  if (states.size() == 1) return call.wrap(states[0]);
  nb::list parts;
  for (const Expr& part : states) parts.append(call.wrap(part));
  return nb::tuple(parts);
}

int visit(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self))
    for (const SharedFunction& function : nb::inst_ptr<RecursionObject>(self)->functions)
      Py_VISIT(function->callable.ptr());
  return 0;
}
int clear(PyObject* self) {
  if (nb::inst_ready(self))
    for (const SharedFunction& function : nb::inst_ptr<RecursionObject>(self)->functions)
      function->callable = nb::none();
  return 0;
}

void bind_kinds(nb::module_& module) {
  nb::class_<KindObject>(module, "Kind", "What rows of one kind of a Recursion compute.")
      .def(
          "__init__",
          [](KindObject* self, std::string name, std::int32_t children, const nb::callable& function, bool takes_x) {
            new (self) KindObject{std::move(name), children, takes_x, share(function), nullptr};
          },
          "name"_a, "children"_a, "function"_a, "takes_x"_a = true,
          "The function takes the row of x, unless not `takes_x`, then the states of the children, and gives the "
          "state\n"
          "of the row: an Expr, a tuple of several, or a State. A child's state is an Expr, or a tuple of its parts.")
      .def_static(
          "any_children",
          [](std::string name, const nb::callable& of_child, const nb::callable& of_node, bool takes_x) {
            return KindObject{std::move(name), RecursionKind::kAnyChildren, takes_x, share(of_node), share(of_child)};
          },
          "name"_a, "of_child"_a, "of_node"_a, "takes_x"_a = true,
          "Rows with any number of children, in no order. `of_child` takes the row of x and the state of one child, "
          "and\n"
          "gives a message with the shapes of a state; `of_node` takes the row of x and the sum of all messages.");
}

}  // namespace

Structure structure_of(nb::handle argument) {
  if (nb::isinstance<Structure>(argument)) return nb::cast<const Structure&>(argument);
  return tree_of(argument, nb::none(), nb::none());
}

void bind_recursion(nb::module_& module) {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(&visit)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};
  bind_structure(module);
  bind_kinds(module);
  nb::class_<RecursionObject>(module, "Recursion", nb::type_slots(slots),
                              R"(Runs cells over a structure that is given as data: a whole tree is one node.

>>> import espalier as esp
>>> tree = esp.Recursion("sum", [
...     esp.Kind("leaf", 0, lambda x: esp.tanh(x)),
...     esp.Kind("pair", 2, lambda left, right: left + right, takes_x=False),
... ])
>>> with esp.Graph() as g:
...     states = tree(g.rows([[0.0], [0.0]]), [[-1, -1], [-1, -1], [0, 1]])
>>> states.value().tolist()
[[0.0], [0.0], [0.0]])")
      .def("__init__", &make_recursion, "name"_a, "kinds"_a, "state"_a.none() = nb::none(),
           nb::sig("def __init__(self, name: str, kinds: collections.abc.Sequence[Kind], "
                   "state: collections.abc.Sequence[collections.abc.Sequence[int]] | None = None) -> None"),
           "`state` gives the shapes of the parts of a state; needed if every kind has children.")
      .def("__call__", &run_recursion, "x"_a, "structure"_a,
           nb::sig(
               "def __call__(self, x: Expr, structure: Structure | numpy.typing.ArrayLike) -> Expr | tuple[Expr, ...]"),
           "The states of all rows: an Expr, or one per part of a state, with a row per row of the structure.")
      .def(
          "kind",
          [](const RecursionObject& self, const std::string& name) {
            return static_cast<int>(self.recursion.kind(name));
          },
          "name"_a, "The number of a kind, by its name.");
}

}  // namespace espalier::python
