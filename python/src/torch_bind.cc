// What espalier.torch needs of C++: recording, and plans as plain Python objects. PyTorch itself is not used here.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/base/strategy.h"
#include "torch_plan.h"
#include "torch_recording.h"
#include "torch_value.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

void make_signature(TorchSignature* self, std::vector<std::int32_t> inputs, std::vector<std::int32_t> results,
                    bool any_number, std::string_view field, const nb::object& wrap) {
  auto* made = new (self) TorchSignature;
  made->inputs = std::move(inputs);
  made->results = std::move(results);
  made->any_number = any_number;
  if (field == "integer") made->field = Field::kInteger;
  if (field == "number") made->field = Field::kNumber;
  if (field == "object") made->field = Field::kObject;
  if (!wrap.is_none()) made->wrap = wrap;
}

// The results of a call as handles. `inputs` are Values of the batch.
nb::object record(TorchRecording& recording, nb::handle object, const nb::sequence& inputs, std::int64_t field) {
  auto& signature = nb::cast<TorchSignature&>(object);
  const std::int32_t node = recording.add(signature, object, field);
  for (nb::handle input : inputs) {
    const auto* value = reinterpret_cast<const TorchValue*>(input.ptr());
    recording.add_input({value->node, value->result});
  }
  recording.end_inputs();
  return torch_results(signature, node);
}

// Makes (batch, recording) current, or nothing (None, None), and returns what was.
nb::object enter(nb::object batch, nb::object recording) {
  TorchCurrent& current = torch_current();
  nb::object before = current.batch == nullptr ? nb::none() : nb::steal(current.batch);
  current.recording = recording.is_none() ? nullptr : nb::cast<TorchRecording*>(recording);
  current.batch = batch.is_none() ? nullptr : batch.release().ptr();
  return before;
}

nb::object current_batch() { return torch_current().batch == nullptr ? nb::none() : nb::borrow(torch_current().batch); }

nb::tuple pieces_of(const TorchGather& gather) {
  nb::list pieces;
  for (const TorchPiece& piece : gather.pieces)
    pieces.append(nb::make_tuple(piece.block, piece.result, piece.segment, piece.rows));
  return nb::make_tuple(gather.operands, std::move(pieces), gather.index);
}

// (signature, nodes, gathers, segments, fields, lists, length of lists) of each step.
nb::list steps_of(const TorchPlan& plan) {
  nb::list steps;
  for (const TorchStep& step : plan.steps) {
    nb::list gathers;
    for (const TorchGather& gather : step.gathers) gathers.append(pieces_of(gather));
    steps.append(nb::make_tuple(step.signature, step.nodes, std::move(gathers), step.segments, step.fields, step.lists,
                                step.list_length));
  }
  return steps;
}

TorchPlan make_plan(const TorchRecording& recording, std::string_view strategy) {
  return make_torch_plan(recording, strategy_from_name(strategy));
}

void set_done(TorchRecording& recording, const TorchPlan& plan) {
  std::vector<std::int32_t> rows;
  for (const TorchStep& step : plan.steps) rows.push_back(step.nodes);
  recording.set_done(plan.places, rows);
}

// A NumPy array that owns the numbers.
nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> numbers_of(const TorchPlan& plan) {
  auto kept = std::make_unique<std::vector<std::int64_t>>(plan.numbers);
  std::int64_t* data = kept->data();
  const std::size_t size = kept->size();
  const nb::capsule owner(kept.release(),
                          [](void* numbers) noexcept { delete static_cast<std::vector<std::int64_t>*>(numbers); });
  return {data, {size}, owner};
}

std::int32_t node_at(const TorchPlan& plan, std::size_t step, std::size_t row) {
  return plan.nodes.at(static_cast<std::size_t>(plan.step_begin.at(step)) + row);
}

// How many instances the nodes of a step belong to, and the node that was recorded first.
std::pair<std::int32_t, std::int32_t> facts(const TorchPlan& plan, const TorchRecording& recording, std::size_t step) {
  std::vector<std::int32_t> instances;
  std::int32_t first = node_at(plan, step, 0);
  for (std::int32_t row = 0; row < plan.steps.at(step).nodes; ++row) {
    const std::int32_t node = node_at(plan, step, static_cast<std::size_t>(row));
    instances.push_back(recording.instance_of(node));
    first = std::min(first, node);
  }
  std::ranges::sort(instances);
  const auto repeated = std::ranges::unique(instances);
  return {static_cast<std::int32_t>(repeated.begin() - instances.begin()), first};
}

std::pair<std::int32_t, std::int32_t> place_of(const TorchRecording& recording, nb::handle value) {
  const TorchPlace place = recording.place_of(reinterpret_cast<const TorchValue*>(value.ptr())->node);
  return {place.block, place.row};
}

void bind_recording(nb::module_& module) {
  nb::class_<TorchSignature>(module, "Signature", "What must be equal for two calls to run as one.")
      .def("__init__", &make_signature, "inputs"_a, "results"_a, "any_number"_a = false, "field"_a = "",
           "wrap"_a = nb::none());
  nb::class_<TorchRecording>(module, "Recording", "Who was called with which earlier results, as integers.")
      .def(nb::init<>())
      .def("record", &record, "signature"_a, "inputs"_a, "field"_a = 0)
      .def("begin_instance", &TorchRecording::begin_instance)
      .def("begin_instance_again", &TorchRecording::begin_instance_again)
      .def("instance_of", &TorchRecording::instance_of)
      .def("site_of", [](const TorchRecording& r,
                         std::int32_t node) { return std::pair(r.site_of(node).file(), r.site_of(node).line()); })
      .def("place_of", &place_of)
      .def("plan", &make_plan)
      .def("set_done", &set_done)
      .def("close", &TorchRecording::close)
      .def("signature_of",
           [](const TorchRecording& r, std::int32_t number) { return nb::borrow(r.signature_object(number)); })
      .def("set_constants",
           [](TorchRecording& r, nb::object integer, nb::object number) {
             r.integer_signature = std::move(integer);
             r.number_signature = std::move(number);
           })
      .def_prop_ro("done", &TorchRecording::done)
      .def_prop_ro("instances", &TorchRecording::instances)
      .def("__len__", &TorchRecording::size);
}

}  // namespace

void bind_torch(nb::module_& core) {
  nb::module_ module = core.def_submodule("_torch", "What espalier.torch needs of C++; not for users.");
  bind_recording(module);
  nb::class_<TorchPlan>(module, "Plan", "How what is recorded is to run.")
      .def_prop_ro("steps", &steps_of)
      .def("numbers", &numbers_of)
      .def("__len__", [](const TorchPlan& plan) { return plan.steps.size(); })
      .def_ro("parts", &TorchPlan::parts)
      .def_ro("bound", &TorchPlan::bound)
      .def_ro("forced", &TorchPlan::forced)
      .def_ro("copied_rows", &TorchPlan::copied_rows)
      .def("node_at", &node_at)
      .def("facts", &facts);
  add_torch_types(module);
  module.def("value_type", &set_torch_value_type);
  module.def("modes", &set_torch_modes);
  module.def("mode", &torch_mode);
  module.def("enter", &enter, "batch"_a.none(), "recording"_a.none());
  module.def("current", &current_batch);
}

}  // namespace espalier::python
