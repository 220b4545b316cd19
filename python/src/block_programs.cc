// Compositions of blocks, and compiled blocks that record.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "blocks.h"
#include "espalier/base/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using blocks::Composition;
using blocks::Wire;

struct WireObject {
  Wire wire;
  Uses uses;  // those of its composition
};

std::vector<Wire> wires_of(const nb::args& wires) {
  std::vector<Wire> result;
  for (const nb::handle wire : wires) result.push_back(nb::cast<const WireObject&>(wire).wire);
  return result;
}

blocks::WireItem wire_item(nb::handle item) {
  const SourceLine where = caller();
  if (PyUnicode_Check(item.ptr()) != 0) return {nb::cast<std::string>(item), where.file(), where.line()};
  return {nb::cast<std::int64_t>(item), where.file(), where.line()};
}

// The graph that is given, or the current one, which is the current one while blocks record.
class Recorder {
 public:
  explicit Recorder(nb::handle graph) {
    if (graph.is_none()) {
      graph_stack().push_back(current_graph("program"));
    } else {
      if (!is_graph(graph)) throw UsageError("program: it records on a Graph\n  at " + caller().to_string());
      if (nb::inst_ptr<GraphObject>(graph)->busy) refuse_busy();
      graph_stack().push_back({nb::inst_ptr<GraphObject>(graph), nb::borrow(graph)});
    }
  }
  ~Recorder() { graph_stack().pop_back(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Graph& graph() const { return *graph_stack().back().graph; }
  nb::object object() const { return graph_stack().back().object; }
};

std::vector<const void*> addresses(const nb::list& inputs) {
  std::vector<const void*> result;
  for (const nb::handle input : inputs) result.push_back(input.ptr());
  return result;
}

blocks::InstanceOptions options_of(std::optional<std::uint64_t> first_key, std::int64_t first_number) {
  return {first_key, first_number};
}

nb::object entry_list(const std::vector<blocks::Recording::Entry>& entries, nb::handle graph) {
  nb::list list;
  for (const auto& entry : entries)
    list.append(
        nb::make_tuple(entry.name, entry.instance, to_python(entry.value, graph), to_python(entry.label, graph)));
  return list;
}

struct ProgramObject {
  blocks::Program program;
  Uses uses;
};

nb::tuple record(const ProgramObject& self, nb::handle graph, const nb::list& inputs,
                 std::optional<std::uint64_t> first_key, std::int64_t first_number) {
  return with_causes([&] {
    const Recorder to(graph);
    const blocks::Recording recording =
        self.program.record_many(to.graph(), addresses(inputs), options_of(first_key, first_number));
    nb::list outputs;
    for (const blocks::Output& output : recording.outputs) outputs.append(to_python(output, to.object()));
    const nb::object loss = recording.loss ? nb::cast(NodeRef{*recording.loss, to.object()}) : nb::none();
    return nb::make_tuple(outputs, entry_list(recording.metrics, to.object()), entry_list(recording.taps, to.object()),
                          loss);
  });
}

nb::object loss(const ProgramObject& self, nb::handle graph, const nb::list& inputs,
                std::optional<std::uint64_t> first_key) {
  return with_causes([&] {
    const Recorder to(graph);
    const Expr loss = self.program.loss_of(to.graph(), addresses(inputs), options_of(first_key, 0));
    return nb::cast(NodeRef{loss, to.object()});
  });
}

}  // namespace

void bind_compositions(nb::module_& module) {
  nb::class_<WireObject>(module, "Wire", nb::type_slots(slots_with_uses<WireObject>()),
                         "The output of a block in a Composition, or a part of it.")
      .def(
          "__getitem__",
          [](const WireObject& self, nb::handle item) {
            return WireObject{self.wire[wire_item(item)], self.uses};
          },
          "item"_a, nb::sig("def __getitem__(self, item: int | str) -> Wire"),
          "An item of a tuple, or what get(item) gives.")
      .def(
          "reads",
          [](const WireObject& self, const nb::args& wires) {
            const SourceLine where = caller();
            self.wire.reads(wires_of(wires), where.file(), where.line());
          },
          nb::sig("def reads(self, *wires: Wire) -> None"),
          "What the block reads: one wire, or several as a tuple. Once for each block.");
  nb::class_<CompositionObject>(module, "Composition", nb::type_slots(slots_with_uses<CompositionObject>()),
                                R"(Wires blocks in any way. It is a block itself, once it is wired.

``node(block, *wires)`` puts a block in that reads these wires; ``node.input`` and ``node.output`` are the two ends.)")
      .def(
          "__init__",
          [](CompositionObject* self, const std::string& name) {
            const SourceLine where = caller();
            new (self) CompositionObject{Composition(name, where.file(), where.line()), {}};
            self->uses.append(nb::none());  // there is a list now, which wires have too
          },
          "name"_a = "")
      .def_prop_ro(
          "input",
          [](const CompositionObject& self) {
            return WireObject{self.composition.input(), self.uses};
          },
          "What the whole reads.")
      .def_prop_ro(
          "output",
          [](const CompositionObject& self) {
            return WireObject{self.composition.output(), self.uses};
          },
          "What the whole gives; say so with output.reads(wire).")
      .def(
          "__call__",
          [](CompositionObject& self, nb::handle block, const nb::args& wires) {
            const blocks::BlockArg taken = block_arg(block, caller());
            self.uses.append(Uses::take().list());
            return WireObject{self.composition(taken, wires_of(wires)), self.uses};
          },
          nb::sig("def __call__(self, block: object, *wires: Wire) -> Wire"), "Puts a block in that reads these wires.")
      .def(
          "add",
          [](CompositionObject& self, nb::handle block) {
            const blocks::BlockArg taken = block_arg(block, caller());
            self.uses.append(Uses::take().list());
            return WireObject{self.composition.add(taken), self.uses};
          },
          "block"_a, nb::sig("def add(self, block: object) -> Wire"), "Puts a block in; what it reads is said later.");
}

void bind_programs(nb::module_& module) {
  nb::class_<ProgramObject>(module, "Compiled", nb::type_slots(slots_with_uses<ProgramObject>()),
                            "A compiled block. See espalier.blocks.Program.")
      .def(
          "__init__",
          [](ProgramObject* self, nb::handle block, const std::vector<std::string>& watch) {
            const blocks::BlockArg taken = block_arg(block, caller());
            Uses uses = Uses::take();
            new (self) ProgramObject{blocks::Program::of<PythonObject>(taken, {.watch = watch}), std::move(uses)};
          },
          "block"_a, "watch"_a = std::vector<std::string>(),
          nb::sig("def __init__(self, block: object, watch: collections.abc.Sequence[str] = ()) -> None"))
      .def_prop_ro(
          "input_type", [](const ProgramObject& self) { return self.program.block_input_type().to_text(); },
          "What the block takes.")
      .def_prop_ro(
          "output_type", [](const ProgramObject& self) { return self.program.output_type().to_text(); },
          "What the block gives.")
      .def("_record", &record, "graph"_a.none(), "inputs"_a, "first_key"_a.none(), "first_number"_a)
      .def("_loss", &loss, "graph"_a.none(), "inputs"_a, "first_key"_a.none());
}

}  // namespace espalier::python
