#include "function.h"

#include <mutex>

#include "espalier/base/error.h"

namespace nb = nanobind;

namespace espalier::python {

namespace {

std::recursive_mutex& trace_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

// One item of a pattern, from place `at` on.
nb::object unflatten_one(const Pattern& pattern, std::size_t& at, std::span<const Expr>& exprs, nb::handle graph) {
  const char kind = pattern[at++];
  if (kind == 'E') {
    const Expr expr = exprs[0];
    exprs = exprs.subspan(1);
    return nb::cast(NodeRef{expr, nb::borrow(graph)});
  }
  if (kind == 'S') {
    const nn::LstmState state{exprs[0], exprs[1]};
    exprs = exprs.subspan(2);
    return nb::cast(StateRef{state, nb::borrow(graph)});
  }
  nb::list items;
  while (pattern[at] != ')' && pattern[at] != ']') items.append(unflatten_one(pattern, at, exprs, graph));
  ++at;
  return kind == '(' ? nb::object(nb::tuple(items)) : nb::object(items);
}

template <class Items, class F>
void bracketed(const Items& items, Pattern& pattern, F f) {
  const bool is_tuple = PyTuple_Check(items.ptr()) != 0;
  pattern += is_tuple ? '(' : '[';
  for (const nb::handle item : items) f(item);
  pattern += is_tuple ? ')' : ']';
}

bool is_sequence(nb::handle h) { return PyTuple_Check(h.ptr()) != 0 || PyList_Check(h.ptr()) != 0; }

}  // namespace

SharedFunction share(nb::handle callable) {
  return {new Function{nb::borrow(callable)}, [](Function* function) {
            if (Py_IsInitialized() == 0) {
              function->callable.release();  // too late: the interpreter is gone
            } else {
              const nb::gil_scoped_acquire acquired;
              function->callable.reset();
            }
            delete function;
          }};
}

TraceLock::TraceLock() {
  if (trace_mutex().try_lock()) return;
  const nb::gil_scoped_release released;
  trace_mutex().lock();
}
TraceLock::~TraceLock() { trace_mutex().unlock(); }

void flatten(nb::handle argument, Call& call, Pattern& pattern, std::vector<Operand>& operands) {
  if (is_state(argument)) {
    const StateRef& state = state_of(argument);
    call.look_at(argument);
    pattern += 'S';
    operands.emplace_back(state.state.h, call.where());
    operands.emplace_back(state.state.c, call.where());
  } else if (is_sequence(argument)) {
    bracketed(nb::borrow<nb::iterable>(argument), pattern,
              [&](nb::handle item) { flatten(item, call, pattern, operands); });
  } else {
    pattern += 'E';
    operands.push_back(call.operand(argument));
  }
}

void flatten_result(nb::handle result, const std::string& what, Pattern& pattern, ExprList& exprs) {
  if (is_expr(result)) {
    pattern += 'E';
    exprs.push_back(node_of(result).expr);
  } else if (is_state(result)) {
    pattern += 'S';
    exprs.push_back(state_of(result).state.h);
    exprs.push_back(state_of(result).state.c);
  } else if (is_sequence(result)) {
    bracketed(nb::borrow<nb::iterable>(result), pattern,
              [&](nb::handle item) { flatten_result(item, what, pattern, exprs); });
  } else {
    throw CellError(what + ": its function must return Exprs, States, or tuples or lists of them, not " +
                    Py_TYPE(result.ptr())->tp_name);
  }
}

nb::object unflatten(const Pattern& pattern, std::span<const Expr> exprs, nb::handle graph) {
  std::size_t at = 0;
  return unflatten_one(pattern, at, exprs, graph);
}

nb::object graph_object(std::span<const Expr> exprs, nb::handle outer) {
  const bool is_outer = !exprs.empty() && outer.is_valid() && &exprs[0].graph() == nb::inst_ptr<GraphObject>(outer);
  return is_outer ? nb::borrow(outer) : nb::object();
}

}  // namespace espalier::python
