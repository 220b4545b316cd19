// espalier.cell: a function of Python that is recorded as one node per use.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/cells/cell.h"
#include "function.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

constexpr std::size_t kMostInline = 8;

// A cell for one pattern of arguments. What its results look like is known once it was traced.
struct Form {
  Pattern arguments;
  std::shared_ptr<const cells::Core> core;
  Pattern results;
  std::size_t count = 0;
};

class CellObject {
 public:
  CellObject(const nb::callable& function, std::string name, std::vector<std::size_t> outer)
      : function_(share(function)), name_(std::move(name)), outer_(std::move(outer)) {}

  const std::string& name() const { return name_; }
  const SharedFunction& function() const { return function_; }

  nb::object use(std::span<PyObject* const> arguments) {
    Call call(name_);
    for (PyObject* argument : arguments) call.look_at(argument);
    if (Form* const plain = plain_form(arguments)) {
      std::array<Expr, kMostInline> inputs;
      for (std::size_t i = 0; i < arguments.size(); ++i) inputs[i] = node_of(arguments[i]).expr;
      return record(*plain, std::span<const Expr>(inputs.data(), arguments.size()), call);
    }
    Pattern pattern;
    std::vector<Operand> operands;
    for (PyObject* argument : arguments) flatten(argument, call, pattern, operands);
    if (operands.empty()) throw CellError("cell \"" + name_ + "\": needs an Expr to be called with");
    return record_slowly(form(pattern), operands, call);
  }

 private:
  // What the library calls with the inputs of a use.
  struct Tracing {
    CellObject* cell;
    Form* form;
    nb::handle graph;
  };

  // The form of as many single Exprs; null where they are anything else, or too many.
  Form* plain_form(std::span<PyObject* const> arguments) {
    if (arguments.empty() || arguments.size() > kMostInline) return nullptr;
    for (PyObject* argument : arguments)
      if (!is_expr(argument)) return nullptr;
    Form*& known = plain_[arguments.size() - 1];
    if (known == nullptr) known = &form(Pattern(arguments.size(), 'E'));
    return known;
  }

  Form& form(const Pattern& pattern) {
    for (Form& known : forms_)
      if (known.arguments == pattern) return known;
    CellOptions options;
    options.outer = outer_;
    auto core = std::make_shared<const cells::Core>(name_, std::move(options));
    std::size_t inputs = 0;
    for (const char kind : pattern) inputs += kind == 'E' ? 1 : kind == 'S' ? 2 : 0;
    core->require_inputs(inputs);
    forms_.push_back({pattern, std::move(core), {}, 0});
    return forms_.back();
  }

  nb::object record(Form& form, std::span<const Expr> inputs, const Call& call) {
    std::array<Expr, kMostInline> again;
    if (form.count > 0 && form.count <= kMostInline) {
      const std::span<Expr> results(again.data(), form.count);
      if (form.core->record_again(inputs, call.where(), results)) return result(form, results, call);
    }
    std::vector<Operand> operands;
    for (const Expr& input : inputs) operands.emplace_back(input, call.where());
    return record_slowly(form, operands, call);
  }

  nb::object record_slowly(Form& form, std::span<const Operand> operands, const Call& call) {
    const TraceLock lock;
    const nb::object graph = call.graph();
    const Tracing tracing{this, &form, graph};
    ExprList results;
    form.core->record(operands, {&tracing, &trace}, results);
    return result(form, {results.data(), results.size()}, call);
  }

  static nb::object result(const Form& form, std::span<const Expr> exprs, const Call& call) {
    if (form.results.size() == 1 && form.results[0] == 'E') [[likely]]
      return call.wrap(exprs[0]);
    return unflatten(form.results, exprs, call.graph());
  }

  static void trace(const void* object, std::span<const Expr> inputs, ExprList& results) {
    const Tracing& tracing = *static_cast<const Tracing*>(object);
    Form& form = *tracing.form;
    const nb::object graph = graph_object(inputs, tracing.graph);
    graph_stack().push_back({&inputs[0].graph(), graph});
    struct Leave {
      ~Leave() { graph_stack().pop_back(); }
    } const leave;
    const nb::object arguments = unflatten("(" + form.arguments + ")", inputs, graph);
    const nb::object result = nb::steal(PyObject_CallObject(tracing.cell->function_->callable.ptr(), arguments.ptr()));
    if (!result.is_valid()) nb::raise_python_error();
    const std::string what = "cell \"" + tracing.cell->name_ + "\"";
    Pattern pattern;
    results.clear();
    flatten_result(result, what, pattern, results);
    if (results.empty()) throw CellError(what + ": its function returned no Expr");
    if (form.count != 0 && form.results != pattern)
      throw CellError(what + ": its function returned results of another structure than before");
    form.results = pattern;
    form.count = results.size();
  }

  SharedFunction function_;
  std::string name_;
  std::vector<std::size_t> outer_;
  std::deque<Form> forms_;
  std::array<Form*, kMostInline> plain_{};
};

int visit(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<CellObject>(self)->function()->callable.ptr());
  return 0;
}
int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<CellObject>(self)->function()->callable = nb::none();
  return 0;
}

// Called directly by the interpreter, which is quicker than through a method.
PyObject* call_cell(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    if (keywords != nullptr && PyDict_GET_SIZE(keywords) > 0)
      throw UsageError("a cell takes positional arguments only");
    return nb::inst_ptr<CellObject>(self)
        ->use({reinterpret_cast<PyTupleObject*>(arguments)->ob_item,
               static_cast<std::size_t>(PyTuple_GET_SIZE(arguments))})
        .release()
        .ptr();
  });
}

}  // namespace

void bind_cells(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visit)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                                {Py_tp_call, reinterpret_cast<void*>(&call_cell)},
                                {0, nullptr}};
  nb::class_<CellObject>(module, "Cell", nb::type_slots(slots),
                         "A function that is recorded as one node per use. See espalier.cell.")
      .def(nb::init<const nb::callable&, std::string, std::vector<std::size_t>>(), "function"_a, "name"_a,
           "outer"_a = std::vector<std::size_t>())
      .def_prop_ro("name", &CellObject::name, "What messages call it.")
      .def_prop_ro(
          "__wrapped__", [](const CellObject& cell) { return cell.function()->callable; }, "The function.")
      .def("__repr__", [](const CellObject& cell) { return "<espalier.Cell \"" + cell.name() + "\">"; });
}

}  // namespace espalier::python
