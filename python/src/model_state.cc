// All parameters of a model at once: as dicts of arrays, as files, and as pickles.
//
// Layers make their parameters, and those of an unpickled model must be theirs. So an unpickled model has none at
// first: layers that are unpickled after it make them again, and get the numbers. What nobody made is added when
// somebody looks.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstring>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrays.h"
#include "espalier/base/error.h"
#include "model.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

// A parameter of a pickle.
struct Waiting {
  std::string name;
  Tensor value;
  bool frozen = false;
  double learning_rate_scale = 1;
  double gradient_scale = 1;
};

std::unordered_map<const Model*, std::vector<Waiting>>& waiting() {
  static std::unordered_map<const Model*, std::vector<Waiting>> of_models;
  return of_models;
}

void write(Parameter& parameter, const Tensor& tensor) {
  if (tensor.bytes() > 0) std::memcpy(parameter.mutable_value().data(), tensor.data(), tensor.bytes());
}

void require_shape(const char* what, const Parameter& parameter, const Tensor& tensor) {
  if (tensor.shape() != parameter.shape())
    throw UsageError(std::string(what) + ": the parameter \"" + parameter.name() + "\" has shape " +
                     parameter.shape().to_string() + ", and the array " + tensor.shape().to_string());
}

void take(Parameter& parameter, const Waiting& from) {
  require_shape("unpickling", parameter, from.value);
  write(parameter, from.value);
  parameter.frozen = from.frozen;
  parameter.learning_rate_scale = from.learning_rate_scale;
  parameter.gradient_scale = from.gradient_scale;
}

// Gives parameters that a layer made again the numbers of the pickle.
void restore(Model& model) {
  const auto found = waiting().find(&model);
  if (found == waiting().end()) return;
  std::erase_if(found->second, [&](const Waiting& one) {
    Parameter* const made = model.find(one.name);
    if (made != nullptr) take(*made, one);
    return made != nullptr;
  });
  if (found->second.empty()) waiting().erase(found);
}

Parameter& add_waiting(Model& model, const Waiting& one) {
  Parameter& parameter = model.add(one.name, one.value.shape(), init::zeros());
  take(parameter, one);
  return parameter;
}

// The parameter of a pickle that an unpickled object refers to by itself.
nb::object claim(Model& model, std::string_view name) {
  restore(model);
  if (const auto found = waiting().find(&model); found != waiting().end())
    for (const Waiting& one : found->second)
      if (one.name == name) {
        Parameter& parameter = add_waiting(model, one);
        restore(model);
        return parameter_object(model, parameter);
      }
  return parameter_object(model, model.parameter(name));
}

nb::tuple get_state(Model& model) {
  settled(model);
  nb::list parameters;
  for (const Parameter* p : model.parameters())
    parameters.append(
        nb::make_tuple(p->name(), array_of(p->value()), p->frozen, p->learning_rate_scale, p->gradient_scale));
  return nb::make_tuple(name_of(model.dtype()), parameters);
}

void set_state(Model* self, const nb::tuple& state) {
  new (self) Model();
  const DType dtype = dtype_named(nb::cast<std::string_view>(state[0]));
  self->to(dtype);
  std::vector<Waiting> all;
  for (const nb::handle item : nb::iter(state[1]))
    all.push_back({nb::cast<std::string>(item[0]), tensor_of(item[1], dtype), nb::cast<bool>(item[2]),
                   nb::cast<double>(item[3]), nb::cast<double>(item[4])});
  waiting()[self] = std::move(all);
}

nb::dict state_dict(Model& model) {
  nb::dict state;
  for (const Parameter* parameter : settled(model).parameters())
    state[parameter->name().c_str()] = array_of(parameter->value());
  return state;
}

void load_state_dict(Model& model, const nb::dict& state, bool strict) {
  for (const Parameter* parameter : settled(model).parameters())
    if (strict && !state.contains(parameter->name().c_str()))
      throw UsageError("load_state_dict: the parameter \"" + parameter->name() + "\" is missing");
  std::vector<std::pair<Parameter*, Tensor>> read;  // all of them, before anything changes
  for (const auto& [key, numbers] : state) {
    const auto name = nb::cast<std::string>(key);
    Parameter* const parameter = model.find(name);
    if (parameter == nullptr) {
      if (strict) model.parameter(name);  // refuses it, with the closest names
      continue;
    }
    read.emplace_back(parameter, tensor_of(numbers, parameter->value().dtype()));
    require_shape("load_state_dict", *parameter, read.back().second);
  }
  for (auto& [parameter, tensor] : read) write(*parameter, tensor);
}

}  // namespace

void make_model(Model* self, std::uint64_t seed) {
  waiting().erase(self);  // of one that was here before
  new (self) Model(seed);
}

Model& settled(Model& model) {
  restore(model);
  const auto found = waiting().find(&model);
  if (found == waiting().end()) return model;
  const std::vector<Waiting> rest = std::move(found->second);
  waiting().erase(found);
  for (const Waiting& one : rest) add_waiting(model, one);
  return model;
}

void bind_model_state(nb::class_<Model>& type) {
  type.def("__getstate__", &get_state);
  type.def("__setstate__", &set_state);
  type.def("_claim", &claim, "name"_a);
  type.def("_restore", &restore);
  type.def("state_dict", &state_dict, nb::sig("def state_dict(self) -> dict[str, numpy.typing.NDArray]"),
           "A copy of all parameters, by name.");
  type.def("load_state_dict", &load_state_dict, "state"_a, "strict"_a = true,
           nb::sig("def load_state_dict(self, state: dict[str, numpy.typing.ArrayLike], strict: bool = True) -> None"),
           "Reads them back. Refuses missing and unknown names, unless not `strict`, and other shapes; nothing has\n"
           "changed then.");
  type.def(
      "save",
      [](Model& self, nb::handle path, const std::map<std::string, std::string>& metadata) {
        settled(self).save(nb::cast<std::string>(nb::str(path)), Metadata(metadata.begin(), metadata.end()));
      },
      "path"_a, "metadata"_a = std::map<std::string, std::string>(),
      nb::sig("def save(self, path: str | os.PathLike, metadata: dict[str, str] = {}) -> None"),
      "Writes all parameters as a safetensors file, whole or not at all.");
  type.def(
      "load",
      [](Model& self, nb::handle path, bool allow_more) {
        settled(self).load(nb::cast<std::string>(nb::str(path)), allow_more);
      },
      "path"_a, "allow_more"_a = false,
      nb::sig("def load(self, path: str | os.PathLike, allow_more: bool = False) -> None"),
      "Reads a safetensors file. Refuses one that lacks a parameter or has another shape for it.");
}

}  // namespace espalier::python
