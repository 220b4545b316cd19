#include "objects.h"

#include <string>

#include "arrays.h"
#include "espalier/base/error.h"

namespace nb = nanobind;

namespace espalier::python {

PyTypeObject* g_expr_type = nullptr;
PyTypeObject* g_parameter_type = nullptr;
PyTypeObject* g_state_type = nullptr;
PyTypeObject* g_graph_type = nullptr;

std::vector<CurrentGraph>& graph_stack() {
  thread_local std::vector<CurrentGraph> stack;
  return stack;
}

const CurrentGraph& current_graph(std::string_view what) {
  if (graph_stack().empty())
    throw UsageError(std::string(what) + ": there is no graph; call it within `with espalier.Graph() as g:`\n  at " +
                     caller().to_string());
  return graph_stack().back();
}

void refuse_busy() {
  throw UsageError("this graph is being run by another thread; each thread needs a graph of its own\n  at " +
                   caller().to_string());
}

Graph& Call::open() {
  if (found_ && graph_.is_valid()) return *nb::inst_ptr<GraphObject>(graph_);
  const CurrentGraph& current = current_graph(what_);
  if (!found_) take(current.object);
  return *current.graph;
}

Operand Call::other_operand(nb::handle argument) {
  if (is_parameter(argument)) {
    const auto* parameter = nb::inst_ptr<Parameter>(argument);
    if (!found_ && !graph_stack().empty()) {  // nothing else may say which graph is meant
      const CurrentGraph& current = graph_stack().back();
      const Operand operand{current.graph->parameter(*parameter), where_};
      graph_ = current.object;
      return operand;
    }
    return {parameter, where_};
  }
  if (is_state(argument))
    throw UsageError(std::string(what_) + ": takes an Expr, not a state; use its h or c\n  at " + where_.to_string());
  Graph& graph = open();
  return {input_of(graph, argument, where_), where_};
}

ExprList expr_list(Call& call, nb::handle sequence) {
  if (is_expr(sequence) || is_parameter(sequence)) return {call.operand(sequence).expr()};
  const nb::object fast = nb::steal(PySequence_Fast(sequence.ptr(), "expected a list or tuple of Exprs"));
  if (!fast.is_valid()) nb::raise_python_error();
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(fast.ptr());
  PyObject** const items = PySequence_Fast_ITEMS(fast.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) call.look_at(items[i]);
  ExprList list;
  for (Py_ssize_t i = 0; i < size; ++i) {
    const Operand operand = call.operand(items[i]);
    list.push_back(operand.parameter() == nullptr ? operand.expr() : call.open().parameter(*operand.parameter()));
  }
  return list;
}

}  // namespace espalier::python
