// espalier.blocks: Block, and what becomes one where a block is expected.
#include "blocks.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>
#include <utility>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/espalier.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using blocks::Block;
using blocks::BlockArg;
using blocks::FunctionSpec;

// A layer as the library's blocks know it, with its types. Nothing where `argument` is none of these layers.
template <class Layer, class... Others>
std::optional<FunctionSpec> layer_spec(nb::handle argument) {
  if (nb::isinstance<Layer>(argument))
    return blocks::make_function_spec(nb::cast<const Layer&>(argument), blocks::detail::kFunctionLabel);
  if constexpr (sizeof...(Others) > 0)
    return layer_spec<Others...>(argument);
  else
    return std::nullopt;
}

std::string label_of(nb::handle callable) {
  const nb::object name = nb::getattr(callable, "__name__", nb::none());
  return nb::isinstance<nb::str>(name) && nb::cast<std::string>(name) != "<lambda>"
             ? nb::cast<std::string>(name) + "()"
             : std::string(blocks::detail::kFunctionLabel);
}

Block parameter_block(nb::handle argument, SourceLine where) {
  const auto* const parameter = nb::inst_ptr<Parameter>(argument);
  return blocks::dynamic_function(
      "from_tensor(" + parameter->name() + ")",
      [parameter](const blocks::DynamicCall& call, const blocks::Output&) {
        const Expr expr = call.graph.parameter(*parameter);
        return blocks::Output(blocks::Type::tensor(expr.shape()), expr);
      },
      where);
}

Block block_of(nb::handle argument, SourceLine where) {
  Uses::add(argument);
  if (nb::isinstance<BlockObject>(argument)) return nb::cast<const BlockObject&>(argument).block;
  if (nb::isinstance<CompositionObject>(argument)) return nb::cast<const CompositionObject&>(argument).composition;
  if (is_parameter(argument)) return parameter_block(argument, where);
  if (PyList_Check(argument.ptr()) != 0 || PyTuple_Check(argument.ptr()) != 0)
    return blocks::record(block_args(argument, where), where.file(), where.line());
  std::optional<FunctionSpec> layer =
      layer_spec<nn::Linear, nn::LayerNorm, nn::Dropout, nn::Mlp, nn::FC, nn::BinaryTreeLstm, nn::NaryTreeLstm,
                 nn::ChildSumTreeLstm, nn::TreeGru, nn::LstmCell, nn::BiLstm, nn::GruCell>(argument);
  if (layer) return blocks::function_block(std::move(*layer), where);
  if (nb::isinstance<nn::Embedding>(argument)) {
    const auto& table = nb::cast<const nn::Embedding&>(argument);
    FunctionSpec spec = blocks::make_function_spec(
        table, "embedding(" + table.table().name() + table.table().shape().to_string() + ")");
    return blocks::function_block(std::move(spec), where);
  }
  if (PyCallable_Check(argument.ptr()) != 0)
    return blocks::dynamic_function(label_of(argument), dynamic_function_of(argument), where);
  if (PyUnicode_Check(argument.ptr()) != 0 || PyDict_Check(argument.ptr()) != 0)
    throw UsageError(std::string("blocks: a block is expected, not ") + Py_TYPE(argument.ptr())->tp_name + "\n  at " +
                     where.to_string());
  return blocks::tensor_block(constant_of(argument), where);
}

void bind_block(nb::module_& module) {
  constexpr const char* kPipe = "def __rshift__(self, other: object, /) -> Block";
  nb::class_<BlockObject>(module, "Block", nb::type_slots(slots_with_uses<BlockObject>()),
                          R"(A typed piece of a model: takes one thing and gives one thing.

Wire blocks with ``>>``. A block may be used in several places. Wherever a block is expected, there may also be a
layer, a cell, a function of Exprs, a parameter, an array of numbers, or a list of blocks (a record by place).)")
      .def(
          "__rshift__",
          [](nb::handle self, nb::handle other) -> BlockObject {
            const SourceLine where = caller();
            return block_arg(self, where) >> block_arg(other, where);
          },
          "other"_a, nb::sig(kPipe), "Runs this block, then the other on its result.")
      .def(
          "__rrshift__",
          [](nb::handle self, nb::handle other) -> BlockObject {
            const SourceLine where = caller();
            return block_arg(other, where) >> block_arg(self, where);
          },
          "other"_a, nb::sig("def __rrshift__(self, other: object, /) -> Block"),
          "Runs the other block, then this one on its result.")
      .def(
          "named",
          [](nb::handle self, const std::string& name) {
            nb::cast<const BlockObject&>(self).block.named(name);
            return nb::borrow(self);
          },
          "name"_a, nb::sig("def named(self, name: str) -> Block"),
          "Gives it a name, which messages use; the same block.")
      .def(
          "takes",
          [](nb::handle self, std::string_view type) {
            const SourceLine where = caller();
            nb::cast<const BlockObject&>(self).block.takes(blocks::Type::parse(type), where.file(), where.line());
            return nb::borrow(self);
          },
          "type"_a, nb::sig("def takes(self, type: str) -> Block"),
          "Says what its input is, such as \"float[3]\"; the same block.")
      .def(
          "gives",
          [](nb::handle self, std::string_view type) {
            const SourceLine where = caller();
            nb::cast<const BlockObject&>(self).block.gives(blocks::Type::parse(type), where.file(), where.line());
            return nb::borrow(self);
          },
          "type"_a, nb::sig("def gives(self, type: str) -> Block"), "Says what its output is; the same block.")
      .def_prop_ro(
          "input_type", [](const BlockObject& self) { return self.block.input_text(); },
          "What it takes, with ? for what is not known yet.")
      .def_prop_ro(
          "output_type", [](const BlockObject& self) { return self.block.output_text(); },
          "What it gives, with ? for what is not known yet.")
      .def(
          "describe", [](const BlockObject& self) { return self.block.describe(); },
          "All blocks inside, one a line, with their names and types.")
      .def("__repr__", [](const BlockObject& self) {
        const Block& block = self.block;
        return "<espalier.blocks: " + block.label() + " : " + block.input_text() + " -> " + block.output_text() + ">";
      });
}

}  // namespace

BlockArg block_arg(nb::handle argument, SourceLine where) {
  return {block_of(argument, where), where.file(), where.line()};
}

Tensor constant_of(nb::handle argument) {
  const bool is_number = PyFloat_Check(argument.ptr()) != 0 || PyLong_Check(argument.ptr()) != 0;
  Tensor tensor = tensor_of(argument, DType::kFloat64);
  if (!is_number && nb::cast<int>(nb::module_::import_("numpy").attr("ndim")(argument)) != 0) return tensor;
  Tensor number(Shape(), DType::kFloat64);
  number.as<double>()[0] = tensor.item();
  return number;
}

std::vector<BlockArg> block_args(nb::handle arguments, SourceLine where) {
  std::vector<BlockArg> result;
  for (const nb::handle argument : nb::iter(arguments)) result.push_back(block_arg(argument, where));
  return result;
}

void bind_blocks(nb::module_& module) {
  nb::module_ wiring = module.def_submodule("wiring", "Blocks: a language for models over structured data.");
  bind_block(wiring);
  bind_compositions(wiring);
  bind_block_kinds(wiring);
  bind_programs(wiring);
}

}  // namespace espalier::python
