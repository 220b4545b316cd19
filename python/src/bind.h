/// The parts of the extension module. Each function adds one of them.
#pragma once

#include <nanobind/nanobind.h>

namespace espalier::python {

void bind_errors(nanobind::module_& module);
void bind_schedule(nanobind::module_& module);

}  // namespace espalier::python
