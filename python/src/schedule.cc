// The scheduler: integers in, steps out. Arrays go in and come out without a copy.
#include "espalier/batch/schedule.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <optional>
#include <string>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/base/strategy.h"
#include "strategy.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

// Strategies trust a graph; arrays from Python are checked first.
void check_graph(const batch::Graph& graph) {
  const auto nodes = graph.signature.size();
  if (graph.input_begin.size() != nodes + 1)
    throw UsageError("schedule: input_begin has " + std::to_string(graph.input_begin.size()) +
                     " numbers; it needs one more than there are nodes (" + std::to_string(nodes) + ")");
  if (graph.input_begin.front() != 0 || static_cast<std::size_t>(graph.input_begin.back()) != graph.inputs.size())
    throw UsageError("schedule: input_begin must go from 0 to the number of inputs (" +
                     std::to_string(graph.inputs.size()) + "), but goes from " +
                     std::to_string(graph.input_begin.front()) + " to " + std::to_string(graph.input_begin.back()));
  if (!std::is_sorted(graph.input_begin.begin(), graph.input_begin.end()))
    throw UsageError("schedule: the numbers of input_begin must not fall");
  for (std::int32_t node = 0; node < graph.size(); ++node) {
    const std::int32_t signature = graph.signature[static_cast<std::size_t>(node)];
    if (signature < 0 || signature >= graph.signatures)
      throw UsageError("schedule: node " + std::to_string(node) + " has signature " + std::to_string(signature) +
                       "; signatures are 0 to " + std::to_string(graph.signatures - 1));
    for (const std::int32_t input : graph.inputs_of(node))
      if (input < 0 || input >= node)
        throw UsageError("schedule: node " + std::to_string(node) + " has input " + std::to_string(input) +
                         "; inputs are nodes before it");
  }
}

std::int32_t count_signatures(std::span<const std::int32_t> signature) {
  return signature.empty() ? 0 : *std::max_element(signature.begin(), signature.end()) + 1;
}

batch::Schedule make_schedule(const Int32Array& signature, const Int32Array& input_begin, const Int32Array& inputs,
                              const nb::object& strategy, std::optional<std::int32_t> signatures) {
  const batch::Graph graph{span_of(signature), signatures.value_or(count_signatures(span_of(signature))),
                           span_of(input_begin), span_of(inputs)};
  check_graph(graph);
  if (PyCallable_Check(strategy.ptr()) != 0) return own_strategy(share(strategy))->schedule(graph);
  const Strategy known = strategy_from_name(nb::cast<std::string_view>(strategy));
  const nb::gil_scoped_release released;
  return batch::schedule(known, graph);
}

const batch::Schedule& read(nb::handle self) { return nb::cast<const batch::Schedule&>(self); }

ReadOnlyInt32 step_at(nb::handle self, std::int64_t i) {
  const batch::Schedule& schedule = read(self);
  if (i < 0) i += schedule.steps();
  if (i < 0 || i >= schedule.steps()) throw nb::index_error("a schedule has no step of that number");
  return view_of(schedule.step(i), self);
}

std::string text_of(const batch::Schedule& schedule) {
  return "<espalier.Schedule: " + std::to_string(schedule.order.size()) + " nodes in " +
         std::to_string(schedule.steps()) + " steps; no schedule has fewer than " + std::to_string(schedule.bound) +
         ">";
}

// The numbers are copied: they are gone when the strategy returns, and the function may keep its arrays.
nb::object copy_of(std::span<const std::int32_t> numbers) {
  return array_of(Tensor::from(Shape{static_cast<std::int64_t>(numbers.size())}, numbers));
}

}  // namespace

std::shared_ptr<const batch::OwnStrategy> own_strategy(const SharedFunction& rule) {
  return std::make_shared<const batch::OwnStrategy>("a function of Python", [rule](const batch::Graph& graph) {
    const nb::gil_scoped_acquire acquired;
    const nb::object answer =
        rule->callable(copy_of(graph.signature), copy_of(graph.input_begin), copy_of(graph.inputs));
    Int32Array steps;
    if (!nb::try_cast(answer, steps))
      throw UsageError("schedule: the strategy must return an int32 array with the step of each node");
    return std::vector<std::int32_t>(steps.data(), steps.data() + steps.size());
  });
}

void bind_schedule(nb::module_& module) {
  nb::class_<batch::Schedule>(module, "Schedule", R"(Which nodes run together, and in which order.

``len(s)`` is the number of steps, and ``s[i]`` the nodes of step ``i``. Arrays are read-only views.)")
      .def("__len__", &batch::Schedule::steps)
      .def("__getitem__", &step_at, "index"_a)
      .def("__repr__", &text_of)
      .def_prop_ro(
          "order", [](nb::handle self) { return view_of(read(self).order, self); }, "All nodes, step after step.")
      .def_prop_ro(
          "step_begin", [](nb::handle self) { return view_of(read(self).step_begin, self); },
          "Step i is order[step_begin[i]:step_begin[i + 1]].")
      .def_ro("bound", &batch::Schedule::bound,
              "No schedule has fewer steps: for each signature, the most nodes of it on any one path.")
      .def_ro("bound_is_exact", &batch::Schedule::bound_is_exact,
              "False where the bound was only estimated, from below.")
      .def_ro("forced", &batch::Schedule::forced, "Steps beyond the bound.");

  module.def("schedule", &make_schedule, "signature"_a, "input_begin"_a, "inputs"_a, "strategy"_a = "frontier",
             "signatures"_a = nb::none(), R"(Groups the nodes of a graph into steps of nodes that can run together.

Everything is an int32 array, or anything with a buffer of int32, such as ``array.array("i")``; nothing is copied.

signature: what must be equal for two nodes to run together, 0 to ``signatures`` - 1, for each node
input_begin: the inputs of node v are ``inputs[input_begin[v]:input_begin[v + 1]]``
inputs: nodes before v; a node may occur twice
strategy: "none", "depth", "agenda" or "frontier", or a function of these three arrays that returns an int32 array
    with the step of each node

>>> import numpy as np
>>> import espalier as esp
>>> # two trees: leaves 0 and 1 with their parent 2, leaf 3 with its parent 4
>>> signature = np.array([0, 0, 1, 0, 1], np.int32)
>>> input_begin = np.array([0, 0, 0, 2, 2, 3], np.int32)
>>> s = esp.schedule(signature, input_begin, np.array([0, 1, 3], np.int32))
>>> [step.tolist() for step in s]
[[0, 1, 3], [2, 4]]
>>> s.bound
2
)");
  nb::list names;
  for (const Strategy strategy : kAllStrategies) names.append(nb::cast(name_of(strategy)));
  module.attr("strategies") = nb::tuple(names);
}

}  // namespace espalier::python
