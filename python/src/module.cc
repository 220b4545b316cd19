// The extension module espalier._core: one function for each part of the bindings.
#include "bind.h"

NB_MODULE(_core, module) {
  module.doc() = "The compiled part of espalier. Use the names of the package `espalier` instead.";
  espalier::python::bind_errors(module);
  espalier::python::bind_schedule(module);
}
