/// The Python objects Graph, Expr and State, and how arguments become operands.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "caller.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/parameter.h"
#include "espalier/nn/state.h"

namespace espalier::python {

/// A function of Python that the library calls. Shared by the Python object that made it, which lets the collector of
/// cycles see it, and by the library.
struct Function {
  nanobind::object callable;
};
using SharedFunction = std::shared_ptr<Function>;
/// Lets the callable go with the interpreter's lock, in whichever thread it is.
SharedFunction share(nanobind::handle callable);

/// A graph, and whether a thread is running it without the lock of the interpreter.
class GraphObject : public Graph {
 public:
  using Graph::Graph;
  bool busy = false;
  SharedFunction strategy;  // null unless it is a function of Python
};

/// An Expr that keeps its graph alive. In the function of a cell it has none: that graph is the library's own.
struct NodeRef {
  Expr expr;
  nanobind::object graph;
};

/// The state of an LSTM: h and c.
struct StateRef {
  nn::LstmState state;
  nanobind::object graph;
};

extern PyTypeObject* g_expr_type;
extern PyTypeObject* g_parameter_type;
extern PyTypeObject* g_state_type;
extern PyTypeObject* g_graph_type;

inline const NodeRef& node_of(nanobind::handle expr) { return *nanobind::inst_ptr<NodeRef>(expr); }
inline const StateRef& state_of(nanobind::handle state) { return *nanobind::inst_ptr<StateRef>(state); }
inline bool is_expr(nanobind::handle h) { return Py_TYPE(h.ptr()) == g_expr_type; }
inline bool is_state(nanobind::handle h) { return Py_TYPE(h.ptr()) == g_state_type; }
inline bool is_parameter(nanobind::handle h) { return Py_TYPE(h.ptr()) == g_parameter_type; }
inline bool is_graph(nanobind::handle h) { return Py_TYPE(h.ptr()) == g_graph_type; }

/// The graph that `with` opened, or that of the cell whose function runs.
struct CurrentGraph {
  Graph* graph = nullptr;
  nanobind::object object;  // none in the function of a cell
};
std::vector<CurrentGraph>& graph_stack();
/// Refuses (UsageError), in the name of `what`, to do without.
const CurrentGraph& current_graph(std::string_view what);

/// Makes the graph of a cell's function the current one while it runs.
class TraceScope {
 public:
  explicit TraceScope(Graph& graph) { graph_stack().push_back({&graph, nanobind::object()}); }
  ~TraceScope() { graph_stack().pop_back(); }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
};

[[noreturn]] void refuse_busy();

/// One call of a function that records: its line, and the graph its result will belong to.
class Call {
 public:
  explicit Call(std::string_view what) : what_(what), where_(caller()) {}

  SourceLine where() const { return where_; }
  /// That of the first Expr given so far; empty in the function of a cell.
  nanobind::object graph() const { return nanobind::borrow(graph_); }
  /// Takes the graph of an argument that is an Expr or a State.
  void look_at(nanobind::handle argument) {
    if (found_) return;
    if (is_expr(argument))
      take(node_of(argument).graph);
    else if (is_state(argument))
      take(state_of(argument).graph);
  }
  /// An Expr or Parameter as it is; numbers and arrays become leaves of the graph.
  Operand operand(nanobind::handle argument) {
    if (is_expr(argument)) [[likely]] {
      const NodeRef& node = node_of(argument);
      if (!found_) take(node.graph);
      return {node.expr, where_};
    }
    return other_operand(argument);
  }
  /// The current graph, for what has no operand.
  Graph& open();
  /// An Expr of Python for a result.
  nanobind::object wrap(const Expr& expr) const { return nanobind::cast(NodeRef{expr, graph()}); }
  nanobind::object wrap(const nn::LstmState& state) const { return nanobind::cast(StateRef{state, graph()}); }

 private:
  void take(nanobind::handle graph) {
    found_ = true;
    graph_ = graph;
    if (graph.is_valid() && nanobind::inst_ptr<GraphObject>(graph)->busy) refuse_busy();
  }
  Operand other_operand(nanobind::handle argument);

  std::string_view what_;
  SourceLine where_;
  bool found_ = false;
  nanobind::handle graph_;  // borrowed from an operand, or from the current graph
};

/// A list or tuple of operands.
ExprList expr_list(Call& call, nanobind::handle sequence);

/// Runs `f` without the lock of the interpreter, so that other threads of Python go on. Refuses a graph that another
/// thread is running.
template <class F>
decltype(auto) run_graph(const nanobind::object& graph, F&& f) {
  if (!graph.is_valid()) return f();  // of a cell's function: refused by the library
  GraphObject& object = *nanobind::inst_ptr<GraphObject>(graph);
  if (object.busy) refuse_busy();
  struct Busy {
    explicit Busy(bool& flag) : flag_(flag) { flag_ = true; }
    ~Busy() { flag_ = false; }
    bool& flag_;
  };
  const Busy busy(object.busy);
  const nanobind::gil_scoped_release released;
  return f();
}

}  // namespace espalier::python
