/// Structures as arguments of layers.
#pragma once

#include <nanobind/nanobind.h>

#include "espalier/cells/recursion.h"

namespace espalier::python {

/// A Structure, or an int array [rows, children] of a tree, as Structure.tree takes it.
Structure structure_of(nanobind::handle argument);

}  // namespace espalier::python
