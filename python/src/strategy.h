/// A function of Python as a strategy.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "espalier/batch/own_strategy.h"
#include "function.h"

namespace espalier::python {

/// The function takes three read-only int32 arrays and gives one, as espalier.schedule documents it.
std::shared_ptr<const batch::OwnStrategy> own_strategy(const SharedFunction& rule);

}  // namespace espalier::python
