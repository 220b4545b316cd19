// Graph, Expr, State and Statistics.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/espalier.h"
#include "espalier/exec/explain_plan.h"
#include "espalier/show/page.h"
#include "objects.h"
#include "strategy.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

Memoise memoise_named(std::string_view name) {
  if (name == "off") return Memoise::kOff;
  if (name == "lookups") return Memoise::kLookups;
  if (name == "all") return Memoise::kAll;
  throw UsageError("memoise \"" + std::string(name) + "\" is unknown; there are off, lookups and all");
}

Execution execution_named(std::string_view name) {
  if (name == "kernels") return Execution::kKernels;
  if (name == "plain") return Execution::kPlain;
  throw UsageError("execution \"" + std::string(name) + "\" is unknown; there are kernels and plain");
}

void make_graph(GraphObject* self, std::uint64_t seed, std::optional<std::uint64_t> step, bool training,
                std::string_view dtype, const nb::object& strategy, std::string_view memoise,
                std::string_view execution, bool expand_cells, std::int64_t memory_budget, bool profile) {
  GraphOptions options;
  options.seed = seed;
  options.step = step;
  options.training = training;
  options.dtype = dtype_named(dtype);
  options.memoise = memoise_named(memoise);
  options.execution = execution_named(execution);
  options.expand_cells = expand_cells;
  options.memory_budget = memory_budget;
  options.profile = profile;
  SharedFunction function;
  if (PyCallable_Check(strategy.ptr()) != 0)
    options.own_strategy = own_strategy(function = share(strategy));
  else
    options.strategy = strategy_from_name(nb::cast<std::string_view>(strategy));
  new (self) GraphObject(options);
  self->strategy = std::move(function);
}

int visit_graph(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self))
    if (const SharedFunction& strategy = nb::inst_ptr<GraphObject>(self)->strategy) Py_VISIT(strategy->callable.ptr());
  return 0;
}
int clear_graph(PyObject* self) {
  if (nb::inst_ready(self))
    if (const SharedFunction& strategy = nb::inst_ptr<GraphObject>(self)->strategy) strategy->callable = nb::none();
  return 0;
}

// The graph of a method, unless a thread is running it.
GraphObject& idle(nb::handle self) {
  GraphObject& graph = *nb::inst_ptr<GraphObject>(self);
  if (graph.busy) refuse_busy();
  return graph;
}

nb::object wrap(nb::handle graph, const Expr& expr) { return nb::cast(NodeRef{expr, nb::borrow(graph)}); }

std::vector<Expr> exprs_of(nb::handle sequence) {
  std::vector<Expr> list;
  if (is_expr(sequence)) return {node_of(sequence).expr};
  for (const nb::handle item : nb::iter(sequence)) {
    if (!is_expr(item)) throw UsageError("a list of Exprs is expected");
    list.push_back(node_of(item).expr);
  }
  return list;
}

nb::object rows_leaf(nb::handle self, nb::handle array) {
  GraphObject& graph = idle(self);
  const SourceLine where = caller();
  const Numbers<float> numbers = numbers_of<float>(array);
  if (numbers.ndim() == 0)
    throw UsageError("rows: an array of rows is expected, not a number\n  at " + where.to_string());
  Shape row;
  for (std::size_t axis = 1; axis < numbers.ndim(); ++axis)
    row = row.inserted(row.rank(), static_cast<std::int64_t>(numbers.shape(axis)));
  return wrap(self,
              graph.rows(row, std::span<const float>(numbers.data(), numbers.size()), where.file(), where.line()));
}

void leave(nb::handle self) {
  auto& stack = graph_stack();
  if (stack.empty() || !stack.back().object.is(self))
    throw UsageError("Graph: `with` blocks of graphs must be left in the reverse order");
  stack.pop_back();
}

void bind_statistics(nb::module_& module) {
  auto type = nb::class_<Statistics>(module, "Statistics",
                                     "What running a graph took, of all runs since it was made or "
                                     "cleared. Counts are exact.");
  const auto field = [&](const char* name, auto member, const char* doc) { type.def_ro(name, member, doc); };
  field("runs", &Statistics::runs, "Runs so far.");
  field("nodes", &Statistics::nodes, "Nodes that ran in a step.");
  field("views", &Statistics::views, "Nodes that are a part of another node's value, and cost nothing.");
  field("merged", &Statistics::merged, "Nodes whose value was that of an equal node.");
  field("steps", &Statistics::steps, "Kernel calls.");
  field("bound", &Statistics::bound, "No schedule has fewer steps.");
  field("forced", &Statistics::forced, "Steps beyond the bound.");
  field("bytes_copied", &Statistics::bytes_copied, "To bring operands side by side.");
  field("peak_bytes", &Statistics::peak_bytes, "The most memory in use at any moment.");
  field("parts", &Statistics::parts, "Into which the memory budget divided minibatches.");
  field("plans", &Statistics::plans, "Plans made or taken from the cache.");
  field("plan_hits", &Statistics::plan_hits, "Plans taken from the cache.");
  type.def_prop_ro("rows_per_step", &Statistics::rows_a_step, "Nodes per kernel call, on average.");
  type.def_prop_ro(
      "seconds",
      [](const Statistics& s) {
        nb::dict times;
        const Statistics::Seconds& t = s.seconds;
        times["recording"] = t.recording;
        times["scheduling"] = t.scheduling;
        times["planning"] = t.planning;
        times["forward"] = t.forward;
        times["backward"] = t.backward;
        times["copying"] = t.copying;
        times["products"] = t.products;
        times["maps"] = t.maps;
        return times;
      },
      "Seconds by part, as a dict; copying, products and maps only with Graph(profile=True).");
  type.def("__repr__", [](const Statistics& s) {
    return "<espalier.Statistics: " + std::to_string(s.nodes) + " nodes in " + std::to_string(s.steps) + " steps>";
  });
}

void bind_graph_type(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visit_graph)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clear_graph)},
                                {0, nullptr}};
  nb::class_<GraphObject> type(module, "Graph", nb::type_slots(slots),
                               R"(Records operations and computes nothing until a value is asked for.

>>> import espalier as esp
>>> with esp.Graph() as g:
...     x = g.input([1.0, 2.0])
...     y = esp.sum(x * x)
>>> y.scalar()
5.0

seed: with the number of the step, chooses the masks of dropout
step: the number of the step; None counts the minibatches of the process
training: outside training, dropout does nothing
dtype: "float32", or "float64", which is a slow reference
strategy: "none", "depth", "agenda" or "frontier", or a function as for :func:`espalier.schedule`
memoise: "off", "lookups" or "all": which equal computations are done once
execution: "kernels", or "plain": one node at a time, by the slow reference
expand_cells: records the ops of a cell one by one
memory_budget: the most bytes the graph may take; 0 is no limit
profile: measures where the time of each step goes)");
  g_graph_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def("__init__", &make_graph, nb::kw_only(), "seed"_a = 0, "step"_a.none() = nb::none(), "training"_a = true,
           "dtype"_a = "float32", "strategy"_a = "frontier", "memoise"_a = "lookups", "execution"_a = "kernels",
           "expand_cells"_a = false, "memory_budget"_a = 0, "profile"_a = false);
  type.def(
      "__enter__",
      [](nb::handle self) {
        graph_stack().push_back({&idle(self), nb::borrow(self)});
        return nb::borrow(self);
      },
      nb::sig("def __enter__(self) -> Graph"), "Makes this the graph of layers and leaves that are given none.");
  type.def("__exit__", [](nb::handle self, const nb::args&) { leave(self); });
  type.def(
      "input", [](nb::handle self, nb::handle array) { return wrap(self, input_of(idle(self), array, caller())); },
      "array"_a, nb::sig("def input(self, array: numpy.typing.ArrayLike) -> Expr"),
      "A leaf with the numbers of an array, copied once, in the graph's element type.");
  type.def("rows", &rows_leaf, "array"_a, nb::sig("def rows(self, array: numpy.typing.ArrayLike) -> Expr"),
           "A leaf with many rows: those along the first axis. It is one node however many rows it has, and every op\n"
           "runs once per row.");
  type.def(
      "constant",
      [](nb::handle self, double value, nb::handle shape) {
        GraphObject& graph = idle(self);
        const SourceLine where = caller();
        return wrap(self, graph.constant(shape_of(shape), value, graph.options().dtype, where.file(), where.line()));
      },
      "value"_a, "shape"_a = nb::make_tuple(),
      nb::sig("def constant(self, value: float, shape: int | collections.abc.Sequence[int] = ()) -> Expr"),
      "A leaf with the same number everywhere.");
  type.def(
      "parameter",
      [](nb::handle self, const Parameter& parameter) { return wrap(self, idle(self).parameter(parameter)); },
      "parameter"_a, "The node of a parameter: one per graph.");
  type.def(
      "begin_instance",
      [](nb::handle self, std::optional<std::uint64_t> key) {
        key ? idle(self).begin_instance(*key) : idle(self).begin_instance();
      },
      "key"_a.none() = nb::none(),
      "What is recorded from here on belongs to a new instance. Its key chooses the masks of dropout; the default is\n"
      "its number in the minibatch.");
  type.def(
      "set_step", [](nb::handle self, std::uint64_t step) { idle(self).set_step(step); }, "step"_a,
      "Sets the number of the step of this minibatch, which chooses the masks of dropout.");
  type.def(
      "finish",
      [](nb::handle self, nb::handle outputs) {
        const std::vector<Expr> list = exprs_of(outputs);
        run_graph(nb::borrow(self), [&] { nb::inst_ptr<GraphObject>(self)->finish(list); });
      },
      "outputs"_a, nb::sig("def finish(self, outputs: Expr | collections.abc.Iterable[Expr]) -> None"),
      "Computes these as the last run of a graph that is not to be differentiated: the memory of everything else is\n"
      "reused as soon as nobody needs it.");
  type.def(
      "keep", [](nb::handle self, const NodeRef& expr) { idle(self).keep(expr.expr); }, "expr"_a,
      "The value of this node is to outlive finish() and backward().");
  type.def(
      "clear", [](nb::handle self) { idle(self).clear(); },
      "Forgets all nodes and values; every Expr made before is stale. Recording the like again is faster than in a\n"
      "new graph.");
  type.def(
      "explain",
      [](nb::handle self) {
        return nb::module_::import_("espalier.explanation").attr("Explanation")(idle(self).explain(), self);
      },
      nb::sig("def explain(self) -> str"),
      "What ran together and what did not, and why: the steps of all runs so far. In a notebook, the page.");
  type.def(
      "page", [](nb::handle self) { return page_text(idle(self)); },
      "What ran together as one HTML page that loads nothing: with the instances, the steps, and advice.");
  type.def(
      "list_nodes", [](nb::handle self) { return idle(self).list_nodes(); }, "The nodes, one per line.");
  type.def(
      "statistics", [](nb::handle self) { return idle(self).statistics(); },
      "What the runs took since the graph was made or cleared.");
  type.def_prop_ro(
      "instances", [](nb::handle self) { return idle(self).instances(); }, "Instances begun so far.");
  type.def("__len__", [](nb::handle self) { return idle(self).size(); });
  type.def("__bool__", [](nb::handle) { return true; });
  type.def("__repr__", [](const GraphObject& graph) {
    return "<espalier.Graph: " + std::to_string(graph.size()) + " nodes, " + std::to_string(graph.instances()) +
           " instances>";
  });
}

Tensor value_of(const NodeRef& node) {
  return run_graph(node.graph, [&] { return node.expr.value(); });
}

void backward(const NodeRef& node, double factor, nb::handle wanted) {
  BackwardOptions options;
  options.factor = factor;
  options.wanted = exprs_of(wanted);
  run_graph(node.graph, [&] { node.expr.backward(options); });
}

std::string text_of(const NodeRef& node) {
  try {
    Graph& graph = node.expr.graph();
    return "<espalier.Expr: " + graph.type_text(node.expr.node()) + ", " + graph.describe(node.expr.node()) + ">";
  } catch (const UsageError&) {
    return "<espalier.Expr of a graph that was cleared>";
  }
}

void bind_expr(nb::module_& module) {
  nb::class_<NodeRef> type(module, "Expr", R"(One recorded operation. Keeps its graph alive.

Exprs combine with each other, with parameters, numbers and arrays by ``+ - * / @ **``. As in NumPy, ``@`` of a vector
and a matrix is a product.)");
  g_expr_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def(
      "value", [](const NodeRef& node) { return array_of(value_of(node)); },
      nb::sig("def value(self) -> numpy.typing.NDArray"),
      "Computes the node, and what it needs, unless that was done before, and gives an array. Those of many rows\n"
      "have one more axis, before all others. Other threads of Python run meanwhile.");
  type.def(
      "scalar", [](const NodeRef& node) { return run_graph(node.graph, [&] { return node.expr.scalar(); }); },
      "The number of a node with one element, as a float.");
  type.def("__float__", [](const NodeRef& node) { return run_graph(node.graph, [&] { return node.expr.scalar(); }); });
  type.def(
      "__array__",
      [](const NodeRef& node, const nb::object& dtype, const nb::object& copy) {
        const nb::object array = array_of(value_of(node));
        (void)copy;  // it is one
        return dtype.is_none() ? array : array.attr("astype")(dtype);
      },
      "dtype"_a.none() = nb::none(), "copy"_a.none() = nb::none());
  type.def(
      "backward", &backward, "factor"_a = 1.0, nb::kw_only(), "wanted"_a = nb::make_tuple(),
      nb::sig("def backward(self, factor: float = 1.0, *, wanted: collections.abc.Iterable[Expr] = ()) -> None"),
      "Differentiates this node, which must have one element, with respect to every parameter it depends on, and\n"
      "adds the gradients, times `factor`, to those of the parameters. grad() of the nodes in `wanted` works then.");
  type.def(
      "grad", [](const NodeRef& node) { return array_of(node.expr.grad()); },
      nb::sig("def grad(self) -> numpy.typing.NDArray"),
      "The gradient of the last backward() with respect to this node, which must have been `wanted` there.");
  type.def_prop_ro(
      "shape", [](const NodeRef& node) { return tuple_of(node.expr.shape()); },
      nb::sig("def shape(self, /) -> tuple[int, ...]"), "Of a node with many rows, the shape of each.");
  type.def_prop_ro(
      "dtype", [](const NodeRef& node) { return name_of(node.expr.dtype()); }, "\"float32\" or \"float64\".");
  type.def_prop_ro(
      "row_count", [](const NodeRef& node) { return node.expr.row_count(); },
      "The number of rows: 1 unless the node has many rows.");
  type.def_prop_ro(
      "has_many_rows", [](const NodeRef& node) { return node.expr.has_many_rows(); },
      "Whether the node stands for any number of rows.");
  type.def_prop_ro(
      "graph", [](const NodeRef& node) { return node.graph.is_valid() ? node.graph : nb::none(); },
      nb::sig("def graph(self, /) -> Graph | None"), "Its graph; None in the function of a cell.");
  type.def(
      "explain_plan", [](const NodeRef& node) { return explain_plan({node.expr}); },
      "What value() will run, before anything is computed.");
  type.def("__repr__", &text_of);
  type.attr("__array_ufunc__") = nb::none();  // so that NumPy leaves array + Expr to Expr

  nb::class_<StateRef> state(module, "State", R"(The state of an LSTM cell: the output h and the memory c.

``h, c = state`` takes it apart. None stands for a missing child of a tree cell.)");
  g_state_type = reinterpret_cast<PyTypeObject*>(state.ptr());
  state.def(
      "__init__",
      [](StateRef* self, const NodeRef& h, const NodeRef& c) {
        new (self) StateRef{{h.expr, c.expr}, h.graph};
      },
      "h"_a, "c"_a);
  state.def_prop_ro(
      "h",
      [](const StateRef& s) {
        return NodeRef{s.state.h, s.graph};
      },
      "The output.");
  state.def_prop_ro(
      "c",
      [](const StateRef& s) {
        return NodeRef{s.state.c, s.graph};
      },
      "The memory.");
  state.def(
      "__iter__",
      [](const StateRef& s) {
        return nb::iter(nb::make_tuple(NodeRef{s.state.h, s.graph}, NodeRef{s.state.c, s.graph}));
      },
      nb::sig("def __iter__(self) -> collections.abc.Iterator[Expr]"));
  state.def("__len__", [](const StateRef&) { return 2; });
}

// Leaves of the graph that `with` opened.
void bind_leaves(nb::module_& module) {
  module.def(
      "input",
      [](nb::handle array) {
        Call call("input");
        Graph& graph = call.open();
        return call.wrap(input_of(graph, array, call.where()));
      },
      "array"_a, nb::sig("def input(array: numpy.typing.ArrayLike) -> Expr"), "Graph.input() of the current graph.");
  module.def(
      "constant",
      [](double value, nb::handle shape) {
        Call call("constant");
        Graph& graph = call.open();
        return call.wrap(
            graph.constant(shape_of(shape), value, graph.options().dtype, call.where().file(), call.where().line()));
      },
      "value"_a, "shape"_a = nb::make_tuple(),
      nb::sig("def constant(value: float, shape: int | collections.abc.Sequence[int] = ()) -> Expr"),
      "Graph.constant() of the current graph.");
  module.def(
      "begin_instance",
      [](std::optional<std::uint64_t> key) {
        Call call("begin_instance");
        Graph& graph = call.open();
        key ? graph.begin_instance(*key) : graph.begin_instance();
      },
      "key"_a.none() = nb::none(), "Graph.begin_instance() of the current graph.");
}

}  // namespace

void bind_graph(nb::module_& module) {
  bind_statistics(module);
  bind_graph_type(module);
  bind_expr(module);
  bind_leaves(module);
}

}  // namespace espalier::python
