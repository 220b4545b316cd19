// Model, Scope, Parameter, and the initializers of espalier.init.
#include "model.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstring>
#include <string>
#include <unordered_map>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

// How many arrays are views of a parameter's numbers, which must stay where they are as long as any lives.
std::unordered_map<const Parameter*, std::int64_t>& views() {
  static std::unordered_map<const Parameter*, std::int64_t> counts;
  return counts;
}

class View {
 public:
  explicit View(nb::handle parameter) : parameter_(nb::borrow(parameter)) { ++views()[of()]; }
  ~View() {
    if (--views()[of()] == 0) views().erase(of());
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

 private:
  const Parameter* of() const { return nb::inst_ptr<Parameter>(parameter_); }

  nb::object parameter_;
};

// The model of a parameter that Python has seen, by where its gradients go.
std::unordered_map<const Gradients*, Model*>& models() {
  static std::unordered_map<const Gradients*, Model*> of_gradients;
  return of_gradients;
}

nb::object model_of(nb::handle parameter) {
  const auto found = models().find(nb::inst_ptr<Parameter>(parameter)->gradients);
  if (found == models().end()) throw UsageError("a parameter of no model");
  return nb::find(*found->second);
}

nb::object value_view(nb::handle self) {
  Parameter& parameter = *nb::inst_ptr<Parameter>(self);
  if (parameter.is_destroyed()) throw UsageError("parameter \"" + parameter.name() + "\": its model was destroyed");
  auto view = std::make_unique<View>(self);
  const nb::capsule owner(view.release(), [](void* pointer) noexcept { delete static_cast<View*>(pointer); });
  return view_of(parameter.value(), owner);
}

void assign(Parameter& parameter, nb::handle numbers) {
  const Tensor tensor = tensor_of(numbers, parameter.value().dtype());
  if (tensor.shape() != parameter.shape())
    throw UsageError("parameter \"" + parameter.name() + "\" has shape " + parameter.shape().to_string() +
                     ", and the array " + tensor.shape().to_string());
  if (tensor.bytes() > 0) std::memcpy(parameter.mutable_value().data(), tensor.data(), tensor.bytes());
}

nb::object gradient(const Parameter& parameter) {
  const Gradient* const found = parameter.gradients == nullptr ? nullptr : parameter.gradients->find(parameter);
  return found == nullptr ? nb::none() : array_of(found->to_tensor());
}

void change_dtype(Model& model, std::string_view dtype) {
  settled(model);
  for (const Parameter* parameter : model.parameters())
    if (views().contains(parameter))
      throw UsageError("to: an array still refers to the numbers of parameter \"" + parameter->name() +
                       "\", which would move; delete it, or make a copy of it");
  model.to(dtype_named(dtype));
}

init::Initializer python_initializer(nb::handle function) {
  const nb::object kept = nb::borrow(function);  // called while the parameter is added, and let go then
  return [kept](Tensor& value, Random&) {
    Tensor made = tensor_of(kept(tuple_of(value.shape())), DType::kFloat32);
    if (made.shape() != value.shape())
      throw UsageError("init: the function gave shape " + made.shape().to_string() + " for a parameter of shape " +
                       value.shape().to_string());
    value = std::move(made);
  };
}

init::Initializer initializer_named(std::string_view name) {
  if (name == "zeros") return init::zeros();
  if (name == "ones") return init::constant(1);
  if (name == "glorot") return init::glorot();
  if (name == "he") return init::he();
  if (name == "orthogonal") return init::orthogonal();
  throw UsageError("init: \"" + std::string(name) + "\" is unknown; there are zeros, ones, glorot, he and orthogonal");
}

void bind_parameter(nb::module_& module) {
  nb::class_<Parameter> type(module, "Parameter", "A trainable tensor with a name; its model owns it.");
  g_parameter_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def_prop_ro("name", &Parameter::name, "As in \"encoder.cell.W\".");
  type.def_prop_ro(
      "shape", [](const Parameter& p) { return tuple_of(p.shape()); }, nb::sig("def shape(self, /) -> tuple[int, ...]"),
      "Its shape.");
  type.def_prop_ro(
      "dtype", [](const Parameter& p) { return name_of(p.value().dtype()); }, "\"float32\" or \"float64\".");
  type.def_prop_rw(
      "value", &value_view, &assign, nb::for_getter(nb::sig("def value(self, /) -> numpy.typing.NDArray")),
      nb::for_setter(nb::sig("def value(self, array: numpy.typing.ArrayLike, /) -> None")),
      "The numbers, as a read-only array that is no copy: it shows what optimizers do. Assign an array to\n"
      "change them.");
  type.def_prop_ro("grad", &gradient, nb::sig("def grad(self, /) -> numpy.typing.NDArray | None"),
                   "The gradient that backward() added up so far; None if there is none.");
  type.def_rw("frozen", &Parameter::frozen, "A frozen parameter gets no gradient and no update.");
  type.def_rw("learning_rate_scale", &Parameter::learning_rate_scale, "Multiplies the learning rate.");
  type.def_rw("gradient_scale", &Parameter::gradient_scale, "Multiplies the gradient, before clipping.");
  type.def(
      "__array__",
      [](nb::handle self, const nb::object& dtype, const nb::object&) {
        const nb::object array = value_view(self);
        return dtype.is_none() ? array : array.attr("astype")(dtype);
      },
      "dtype"_a.none() = nb::none(), "copy"_a.none() = nb::none());
  type.def(
      "__dlpack__",
      [](nb::handle self, const nb::kwargs& options) { return value_view(self).attr("__dlpack__")(**options); },
      "The numbers for another library, without a copy.");
  type.def("__dlpack_device__", [](nb::handle) { return nb::make_tuple(1, 0); });
  type.def_prop_ro("model", &model_of, nb::sig("def model(self, /) -> Model"), "The model that owns it.");
  type.def("__reduce__", [](nb::handle self) {
    return nb::make_tuple(nb::module_::import_("espalier.pickles").attr("parameter"),
                          nb::make_tuple(model_of(self), nb::inst_ptr<Parameter>(self)->name()));
  });
  type.def("__repr__", [](const Parameter& p) {
    return "<espalier.Parameter \"" + p.name() + "\": " + std::string(name_of(p.value().dtype())) +
           p.shape().to_string() + ">";
  });
  type.attr("__array_ufunc__") = nb::none();
}

ScopeObject scope_of(nb::handle self, std::string_view name) {
  return {*nb::inst_ptr<Model>(self) / name, nb::borrow(self)};
}

void bind_scope(nb::module_& module) {
  nb::class_<ScopeObject> type(module, "Scope", "A place in the tree of names: ``model / \"encoder\" / \"cell\"``.");
  type.def(
      "__truediv__",
      [](const ScopeObject& self, std::string_view name) {
        return ScopeObject{self.scope / name, self.model};
      },
      "name"_a);
  type.def(
      "add",
      [](const ScopeObject& self, std::string_view name, nb::handle shape, nb::handle init) {
        Parameter& parameter = self.scope.add(name, shape_of(shape), initializer_of(init, init::glorot()));
        return self.model.attr("__getitem__")(parameter.name());
      },
      "name"_a, "shape"_a, "init"_a.none() = nb::none(),
      nb::sig("def add(self, name: str, shape: int | collections.abc.Sequence[int], init: object = None) -> Parameter"),
      "Adds the parameter `prefix.name`; see Model.add.");
  type.def_prop_ro(
      "prefix", [](const ScopeObject& self) { return self.scope.prefix(); }, "As in \"encoder.cell\".");
  type.def_prop_ro(
      "model", [](const ScopeObject& self) { return self.model; }, nb::sig("def model(self, /) -> Model"),
      "Its model.");
  type.def("__reduce__", [](const ScopeObject& self) {
    return nb::make_tuple(nb::module_::import_("espalier.pickles").attr("scope"),
                          nb::make_tuple(self.model, self.scope.prefix()));
  });
  type.def("__repr__", [](const ScopeObject& self) { return "<espalier.Scope \"" + self.scope.prefix() + "\">"; });
}

void bind_model_type(nb::module_& module) {
  nb::class_<Model> type(module, "Model", R"(The named parameters of a network.

Layers take a place in the tree of names, and make their parameters there:

>>> import espalier as esp
>>> model = esp.Model(seed=1)
>>> classify = esp.nn.Linear(model / "classify", 150, 5)
>>> [p.name for p in model]
['classify.W', 'classify.b']

The seed decides the initial values: each parameter draws from a stream chosen by its name.)");
  type.def("__init__", &make_model, "seed"_a = 1);
  type.def("__truediv__", &scope_of, "name"_a, nb::sig("def __truediv__(self, name: str, /) -> Scope"));
  type.def(
      "add",
      [](Model& self, std::string name, nb::handle shape, nb::handle init) {
        return parameter_object(
            self, settled(self).add(std::move(name), shape_of(shape), initializer_of(init, init::glorot())));
      },
      "name"_a, "shape"_a, "init"_a.none() = nb::none(),
      nb::sig("def add(self, name: str, shape: int | collections.abc.Sequence[int], init: object = None) -> Parameter"),
      "Adds a parameter. `init` is one of espalier.init, a name (\"zeros\", \"ones\", \"glorot\", \"he\",\n"
      "\"orthogonal\"), a number, an array, or a function from a shape to an array; the default is glorot.");
  type.def(
      "__getitem__",
      [](Model& self, std::string_view name) { return parameter_object(self, settled(self).parameter(name)); },
      "name"_a);
  type.def(
      "__contains__", [](Model& self, std::string_view name) { return settled(self).find(name) != nullptr; }, "name"_a);
  type.def("__len__", [](Model& self) { return settled(self).parameters().size(); });
  type.def("__bool__", [](const Model&) { return true; });
  type.def(
      "__iter__", [](nb::handle self) { return nb::iter(self.attr("parameters")()); },
      nb::sig("def __iter__(self) -> collections.abc.Iterator[Parameter]"));
  type.def(
      "parameters",
      [](nb::handle self) {
        nb::list list;
        for (Parameter* parameter : settled(*nb::inst_ptr<Model>(self)).parameters())
          list.append(parameter_object(*nb::inst_ptr<Model>(self), *parameter));
        return list;
      },
      nb::sig("def parameters(self) -> list[Parameter]"), "All, in the order they were added.");
  type.def(
      "count", [](Model& self) { return settled(self).count(); }, "How many numbers.");
  type.def_prop_ro(
      "dtype", [](const Model& self) { return name_of(self.dtype()); }, "\"float32\" or \"float64\".");
  type.def("to", &change_dtype, "dtype"_a, "Changes the element type of all parameters, and of those added later.");
  type.def(
      "freeze", [](Model& self, std::string_view prefix, bool frozen) { settled(self).freeze(prefix, frozen); },
      "prefix"_a = "", "frozen"_a = true,
      "Every parameter whose name is `prefix` or begins with `prefix.`; \"\" is all.");
  type.def(
      "set_learning_rate_scale",
      [](Model& self, std::string_view prefix, double scale) { settled(self).set_learning_rate_scale(prefix, scale); },
      "prefix"_a, "scale"_a, "Multiplies the learning rate of every parameter below `prefix`.");
  type.def(
      "zero_grad", [](Model& self) { self.gradients().clear(); }, "All gradients are zero.");
  bind_model_state(type);
  type.def("__repr__", [](Model& self) {
    settled(self);
    return "<espalier.Model: " + std::to_string(self.parameters().size()) + " parameters, " +
           std::to_string(self.count()) + " numbers>";
  });
}

void bind_initializers(nb::module_& module) {
  nb::module_ init = module.def_submodule("initializers", "How the first numbers of a parameter are chosen.");
  nb::class_<InitializerObject>(init, "Initializer", "Chooses the first numbers of a parameter.");
  const auto def = [&](const char* name, auto make, const char* doc, auto... arguments) {
    init.def(name, make, arguments..., doc);
  };
  using Made = InitializerObject;
  def(
      "constant", [](double value) { return Made{init::constant(value)}; }, "The same number everywhere.", "value"_a);
  def(
      "zeros", [] { return Made{init::zeros()}; }, "Zeros.");
  def(
      "uniform", [](double low, double high) { return Made{init::uniform(low, high)}; }, "Uniform from low to high.",
      "low"_a, "high"_a);
  def(
      "normal", [](double mean, double deviation) { return Made{init::normal(mean, deviation)}; },
      "Normal with this mean and standard deviation.", "mean"_a = 0.0, "deviation"_a = 1.0);
  def(
      "truncated_normal", [](double mean, double deviation) { return Made{init::truncated_normal(mean, deviation)}; },
      "Normal, but drawn again where it is further than two deviations from the mean.", "mean"_a = 0.0,
      "deviation"_a = 1.0);
  def(
      "glorot", [](double gain) { return Made{init::glorot(gain)}; },
      "Uniform in +-gain * sqrt(6 / (fan-in + fan-out)) (Glorot and Bengio, 2010).", "gain"_a = 1.0);
  def(
      "he", [](double gain) { return Made{init::he(gain)}; },
      "Normal with deviation gain * sqrt(2 / fan-in) (He et al., 2015).", "gain"_a = 1.0);
  def(
      "unit_scaling", [](double factor) { return Made{init::unit_scaling(factor)}; },
      "Uniform in +-factor * sqrt(3 / fan-in) (Sussillo and Abbott, 2014).", "factor"_a = 1.0);
  def(
      "orthogonal", [](double gain) { return Made{init::orthogonal(gain)}; },
      "Orthonormal columns or rows, whichever are fewer (Saxe et al., 2014).", "gain"_a = 1.0);
}

}  // namespace

nb::object parameter_object(Model& model, Parameter& parameter) {
  models()[parameter.gradients] = &model;
  return nb::cast(&parameter, nb::rv_policy::reference_internal, nb::find(model));
}

init::Initializer initializer_of(nb::handle argument, init::Initializer otherwise) {
  if (argument.is_none()) return otherwise;
  if (nb::isinstance<InitializerObject>(argument)) return nb::cast<const InitializerObject&>(argument).initializer;
  if (nb::isinstance<nb::str>(argument)) return initializer_named(nb::cast<std::string_view>(argument));
  if (PyFloat_Check(argument.ptr()) != 0 || PyLong_Check(argument.ptr()) != 0)
    return init::constant(nb::cast<double>(argument));
  if (PyCallable_Check(argument.ptr()) != 0) return python_initializer(argument);
  return init::from_tensor(tensor_of(argument, DType::kFloat32));
}

void bind_model(nb::module_& module) {
  bind_parameter(module);
  bind_initializers(module);
  bind_scope(module);
  bind_model_type(module);
}

}  // namespace espalier::python
