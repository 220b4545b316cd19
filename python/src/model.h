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

}  // namespace espalier::python
