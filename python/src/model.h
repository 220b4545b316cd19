/// Models, scopes and initializers as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include "espalier/nn/init.h"
#include "espalier/nn/model.h"

namespace espalier::python {

/// A scope that keeps its model alive; layers keep their scope.
struct ScopeObject {
  Scope scope;
  nanobind::object model;
};

struct InitializerObject {
  init::Initializer initializer;
};

/// None gives `otherwise`; else a name, an Initializer, a number, an array, or a function from a shape to an array.
init::Initializer initializer_of(nanobind::handle argument, init::Initializer otherwise);

/// A model that was unpickled, with all its parameters: those that no layer made again are added.
Model& settled(Model& model);
/// A new model, at this place.
void make_model(Model* self, std::uint64_t seed);
/// The Python object of a parameter, which keeps its model alive and knows it.
nanobind::object parameter_object(Model& model, Parameter& parameter);
/// Methods of Model that read and write all parameters: files, dicts, pickles.
void bind_model_state(nanobind::class_<Model>& type);

}  // namespace espalier::python
