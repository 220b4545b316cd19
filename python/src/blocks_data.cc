#include "blocks_data.h"

#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/error.h"

namespace nb = nanobind;

namespace espalier::python {

namespace {

using blocks::InputType;
using blocks::Keep;
using blocks::Output;
using blocks::Type;

PyObject* python_at(const void* object) { return static_cast<PyObject*>(const_cast<void*>(object)); }
const InputType& python_type() { return blocks::input_type<PythonObject>(); }
bool is_python(const Type& type) { return type.is(Type::Kind::kInput) && type.input_of() == &python_type(); }

// Alive until the instance is walked, whatever functions of Python do to what holds it.
const void* kept(nb::object object, Keep& keep) { return keep.keep(std::move(object))->ptr(); }

// A call of the interpreter that may fail: what it gave, or nothing.
nb::object or_nothing(PyObject* result) {
  if (result == nullptr) PyErr_Clear();
  return nb::steal(result);
}

std::string shortened(const void* object) {
  constexpr std::size_t kMost = 60;
  const nb::object text = or_nothing(PyObject_Repr(python_at(object)));
  if (!text.is_valid()) return std::string("an object of ") + Py_TYPE(python_at(object))->tp_name;
  std::string shown = nb::cast<std::string>(text);
  if (shown.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xC0U) == 0x80U) --end;  // not within a character
    shown = shown.substr(0, end) + " ...";
  }
  return shown;
}

[[noreturn]] void refuse_kind(const char* expected, const void* object) {
  blocks::refuse_data(std::string("expected ") + expected + ", but got " + shortened(object), object);
}

bool is_text(PyObject* object) { return PyUnicode_Check(object) != 0 || PyBytes_Check(object) != 0; }
bool is_list(PyObject* object) {
  return PyList_Check(object) != 0 || PyTuple_Check(object) != 0 ||
         (PySequence_Check(object) != 0 && PyDict_Check(object) == 0 && !is_text(object) && PyObject_Size(object) >= 0);
}
bool is_list_or_clear(PyObject* object) {
  const bool result = is_list(object);
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return result;
}

std::int64_t size_of_list(const void* object) {
  if (!is_list_or_clear(python_at(object))) refuse_kind("a list", object);
  return PyObject_Size(python_at(object));
}

void elements_of(const void* object, blocks::Slot* to, Keep& keep) {
  const nb::object all = nb::steal(PySequence_Fast(python_at(object), "expected a list"));
  if (!all.is_valid()) nb::raise_python_error();
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(all.ptr());
  for (Py_ssize_t i = 0; i < size; ++i) (to++)->input = kept(nb::borrow(PySequence_Fast_GET_ITEM(all.ptr(), i)), keep);
}

bool is_missing_part(PyObject* error) {
  return PyErr_GivenExceptionMatches(error, PyExc_KeyError) != 0 ||
         PyErr_GivenExceptionMatches(error, PyExc_AttributeError) != 0;
}

// A key of a dict or another mapping, or an attribute.
const void* find_part(const void* object, std::string_view key, std::size_t&, Keep& keep) {
  PyObject* const whole = python_at(object);
  if (is_text(whole) || PyLong_Check(whole) != 0 || PyFloat_Check(whole) != 0 || PyList_Check(whole) != 0)
    refuse_kind("a dict or an object with attributes", object);
  const nb::str name(key.data(), key.size());
  if (PyDict_CheckExact(whole) != 0) {
    PyObject* const found = PyDict_GetItemWithError(whole, name.ptr());
    if (found == nullptr && PyErr_Occurred() != nullptr) nb::raise_python_error();
    return found == nullptr ? nullptr : kept(nb::borrow(found), keep);
  }
  const bool is_mapping = PyMapping_Check(whole) != 0 && PyTuple_Check(whole) == 0;
  nb::object found = nb::steal(is_mapping ? PyObject_GetItem(whole, name.ptr()) : PyObject_GetAttr(whole, name.ptr()));
  if (found.is_valid()) return kept(std::move(found), keep);
  if (!is_missing_part(PyErr_Occurred())) nb::raise_python_error();
  PyErr_Clear();
  return nullptr;
}

bool number_of(const void* object, double& to) {
  PyObject* const number = python_at(object);
  if (is_text(number) || PyNumber_Check(number) == 0) return false;
  const nb::object value = or_nothing(PyNumber_Float(number));
  if (value.is_valid()) to = PyFloat_AS_DOUBLE(value.ptr());
  return value.is_valid();
}

bool integer_of(const void* object, std::int64_t& to) {
  if (PyIndex_Check(python_at(object)) == 0) return false;
  const nb::object value = or_nothing(PyNumber_Index(python_at(object)));
  if (!value.is_valid()) return false;
  int overflow = 0;
  to = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  return overflow == 0;
}

bool text_of(const void* object, std::string_view& to) {
  if (PyUnicode_Check(python_at(object)) == 0) return false;
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(python_at(object), &size);
  if (text == nullptr) PyErr_Clear();
  if (text != nullptr) to = {text, static_cast<std::size_t>(size)};
  return text != nullptr;
}

// For the place of an error: the keys of a dict, the elements of a list, the attributes of an object.
void visit_parts(const void* object, Keep& keep, const blocks::PartVisitor& visit) {
  PyObject* const whole = python_at(object);
  const nb::object fields =
      PyDict_Check(whole) != 0 ? nb::borrow(whole) : or_nothing(PyObject_GetAttrString(whole, "__dict__"));
  if (fields.is_valid() && PyDict_Check(fields.ptr()) != 0) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(fields.ptr(), &at, &key, &value) != 0;)
      if (PyUnicode_Check(key) != 0) visit(nb::cast<std::string>(nb::handle(key)), kept(nb::borrow(value), keep));
  } else if (is_list_or_clear(whole)) {
    const std::int64_t size = PyObject_Size(whole);
    blocks::Slot* const slots = keep.slots(size);
    elements_of(object, slots, keep);
    for (std::int64_t i = 0; i < size; ++i) visit(std::to_string(i), slots[i].input);
  }
}

InputType make_python_type() {
  InputType type;
  type.name = "object";
  type.element = &python_type;
  type.size = &size_of_list;
  type.elements = &elements_of;
  type.entry = &python_type;
  type.find = &find_part;
  type.number = &number_of;
  type.integer = &integer_of;
  type.text = &text_of;
  type.is_null = [](const void* object) { return python_at(object) == Py_None; };
  type.describe = &shortened;
  type.parts = &visit_parts;
  return type;
}

// Data of a type of C++, such as the number that lookup() gives.
nb::object plain_object(const InputType& type, const void* object) {
  if (object == nullptr) return nb::none();
  if (&type == &python_type()) return nb::borrow(python_at(object));
  if (std::int64_t integer = 0; type.integer != nullptr && type.integer(object, integer)) return nb::int_(integer);
  if (double number = 0; type.number != nullptr && type.number(object, number)) return nb::float_(number);
  if (std::string_view text; type.text != nullptr && type.text(object, text)) return nb::str(text.data(), text.size());
  throw UsageError("blocks: data of type " + type.name + " cannot be given to Python");
}

// In a rehearsal there are no data: 0 stands for each, which is a label, a row and a number.
nb::object convert(const Output& output, nb::handle graph, bool rehearsal) {
  switch (output.type().kind()) {
    case Type::Kind::kTensor: return nb::cast(NodeRef{output.leaf(), nb::borrow(graph)});
    case Type::Kind::kInput:
      return rehearsal ? nb::object(nb::int_(0)) : plain_object(*output.type().input_of(), output.address());
    case Type::Kind::kVoid: return nb::none();
    case Type::Kind::kInfinite: return convert(output[0], graph, rehearsal);
    default: {
      nb::list items;
      for (const Output& item : output.items()) items.append(convert(item, graph, rehearsal));
      return output.type().is(Type::Kind::kTuple) ? nb::object(nb::tuple(items)) : nb::object(items);
    }
  }
}

Output from_python(nb::handle result, const blocks::DynamicCall& call) {
  const auto tensor = [](const Expr& expr) { return Output(Type::tensor(expr.shape()), expr); };
  const auto tuple = [](std::vector<Output> items) {
    std::vector<Type> types;
    for (const Output& item : items) types.push_back(item.type());
    return Output(Type::tuple(std::move(types)), std::move(items));
  };
  if (is_expr(result)) return tensor(node_of(result).expr);
  if (is_state(result)) return tuple({tensor(state_of(result).state.h), tensor(state_of(result).state.c)});
  if (is_parameter(result)) return tensor(call.graph.parameter(*nb::inst_ptr<Parameter>(result)));
  if (result.is_none()) return {};
  if (PyTuple_Check(result.ptr()) == 0 && PyList_Check(result.ptr()) == 0)
    return {Type::input<PythonObject>(), kept(nb::borrow(result), call.keep), nullptr};
  std::vector<Output> items;
  for (const nb::handle item : nb::borrow<nb::iterable>(result)) items.push_back(from_python(item, call));
  if (PyTuple_Check(result.ptr()) != 0) return tuple(std::move(items));
  if (items.empty()) {
    if (call.rehearsal) throw blocks::CannotRehearse();
    return {Type::sequence({}), std::move(items)};
  }
  for (const Output& item : items)
    if (item.type() != items[0].type())
      throw UsageError("its function gives a list of " + items[0].type().to_text() + " and " + item.type().to_text() +
                       "; give a tuple instead");
  const Type type = Type::sequence(items[0].type());
  return {type, std::move(items)};
}

bool holds_data(const Type& type) {
  if (type.is(Type::Kind::kInput)) return true;
  for (const Type& item : type.items())
    if (holds_data(item)) return true;
  return false;
}

// An error of the library goes on as it was; others are told apart from it.
[[noreturn]] void rethrow_python(nb::python_error& error) {
  const nb::module_ errors = nb::module_::import_("espalier.errors");
  const auto is = [&](const char* name) { return error.matches(errors.attr(name)); };
  const auto text = [&] { return nb::cast<std::string>(nb::str(error.value())); };
  if (is("UsageError")) throw UsageError(text());
  if (is("DataError")) throw DataError(text());
  throw PythonFailure(std::move(error));
}

nb::object call_python(nb::handle function, nb::handle arguments) {
  const OtherUses others;
  try {
    const nb::object result = nb::steal(PyObject_CallObject(function.ptr(), arguments.ptr()));
    if (!result.is_valid()) nb::raise_python_error();
    return result;
  } catch (nb::python_error& error) {
    rethrow_python(error);
  }
}

// The graph that records is the current one while a function runs.
class CurrentScope {
 public:
  explicit CurrentScope(Graph& graph) : is_new_(graph_stack().empty() || graph_stack().back().graph != &graph) {
    if (is_new_) graph_stack().push_back({&graph, nb::object()});
  }
  ~CurrentScope() {
    if (is_new_) graph_stack().pop_back();
  }
  CurrentScope(const CurrentScope&) = delete;
  CurrentScope& operator=(const CurrentScope&) = delete;
  nb::handle graph() const { return graph_stack().back().object; }

 private:
  bool is_new_;
};

// Of the block that is being made.
Uses& noted() {
  thread_local Uses* const uses = new Uses;  // a thread may end after the interpreter
  return *uses;
}

}  // namespace

void Uses::append(nb::handle object) {
  if (!list_.is_valid()) list_ = nb::list();
  nb::borrow<nb::list>(list_).append(object);
}
void Uses::add(nb::handle object) { noted().append(object); }
Uses Uses::take() { return std::exchange(noted(), Uses()); }
OtherUses::OtherUses() : before_(Uses::take()) {}
OtherUses::~OtherUses() { noted() = std::move(before_); }

PythonFailure::PythonFailure(nb::python_error error)
    : text_(Py_TYPE(error.value().ptr())->tp_name), error_(std::make_shared<nb::python_error>(std::move(error))) {
  const nb::object text = or_nothing(PyObject_Str(error_->value().ptr()));
  if (text.is_valid()) text_ += ": " + nb::cast<std::string>(text);
}

blocks::DynamicFunction dynamic_function_of(nb::handle callable) {
  Uses::add(callable);
  return [function = nb::handle(callable)](const blocks::DynamicCall& call, const Output& argument) {
    const CurrentScope scope(call.graph);
    const nb::object given = convert(argument, scope.graph(), call.rehearsal);
    nb::object arguments = given;
    if (argument.type().is(Type::Kind::kVoid))
      arguments = nb::make_tuple();
    else if (!argument.type().is(Type::Kind::kTuple))
      arguments = nb::make_tuple(given);
    try {
      return from_python(call_python(function, arguments), call);
    } catch (const std::exception&) {
      // Without its data, what it does is not what it will do.
      if (call.rehearsal && holds_data(argument.type())) throw blocks::CannotRehearse();
      throw;
    }
  };
}

blocks::FunctionSpec transform_of(nb::handle callable, std::string label) {
  blocks::FunctionSpec spec;
  spec.label = std::move(label);
  Uses::add(callable);
  spec.object = std::make_shared<const nb::handle>(callable);
  blocks::CallForm form;
  form.arguments = {{.kind = blocks::Pattern::Kind::kObject, .items = {}, .object = &python_type}};
  form.call = [](const void* object, const blocks::CallContext& context) {
    if (context.site->rehearsal) throw blocks::CannotRehearse();
    const void* const given = context.argument(0).input;
    const nb::object argument = given == nullptr ? nb::none() : nb::borrow(python_at(given));
    nb::object result = call_python(*static_cast<const nb::handle*>(object), nb::make_tuple(argument));
    context.result(0).input = kept(std::move(result), *context.keep);
  };
  form.result_type = [](const blocks::Slot*&) { return Type::input<PythonObject>(); };
  form.results = 1;
  form.gives_objects = true;
  spec.forms = {std::move(form)};
  return spec;
}

nb::object to_python(const Output& output, nb::handle graph) { return convert(output, graph, false); }

}  // namespace espalier::python

template <>
const espalier::blocks::InputType& espalier::blocks::input_type<espalier::python::PythonObject>() {
  static const InputType& type =
      register_input_type(typeid(espalier::python::PythonObject*), &espalier::python::make_python_type);
  return type;
}
