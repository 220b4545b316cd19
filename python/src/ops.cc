// The functions of ops. Those without numbers of their own are made from the registry of ops, so that a new one is
// there without a line here; the others are in the files op_*.cc.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>
#include <string>

#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/espalier.h"
#include "objects.h"
#include "ops.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using Handle = nb::handle;

template <class... Arguments>
nb::object record(const OpInfo& info, Arguments... arguments) {
  Call call(info.name);
  (call.look_at(arguments), ...);
  const std::array<Operand, sizeof...(Arguments)> operands{call.operand(arguments)...};
  return call.wrap(graph_of(info, operands).record(info, nullptr, nullptr, operands));
}

nb::object record_list(const OpInfo& info, Handle sequence) {
  Call call(info.name);
  const ExprList list = expr_list(call, sequence);
  const Operands operands(std::span<const Expr>(list.data(), list.size()), call.where());
  return call.wrap(graph_of(info, operands).record(info, nullptr, nullptr, operands));
}

bool has_no_numbers(const OpInfo& info) { return info.attr_words == 0 && info.field_bytes == 0; }

std::string signature(const OpInfo& info, const std::string& name) {
  std::string text = "def " + name + "(";
  for (std::size_t i = 0; i < info.inputs.size(); ++i)
    text += (i > 0 ? ", " : "") + std::string(info.inputs[i].name) +
            (info.takes_any_number() ? ": collections.abc.Sequence[Operand]" : ": Operand");
  return text + ") -> Expr";
}

void bind_one(nb::module_& module, const OpInfo& info) {
  const char* const name = kept(std::string(info.name));
  const nb::sig sig(kept(signature(info, name)));
  const char* const doc = kept(std::string(info.contract));
  const auto argument = [&](std::size_t i) { return nb::arg(kept(std::string(info.inputs[i].name))); };
  if (info.takes_any_number()) {
    module.def(
        name, [&info](Handle x) { return record_list(info, x); }, argument(0), sig, doc);
    return;
  }
  switch (info.inputs.size()) {
    case 1:
      module.def(
          name, [&info](Handle a) { return record(info, a); }, argument(0), sig, doc);
      return;
    case 2:
      module.def(
          name, [&info](Handle a, Handle b) { return record(info, a, b); }, argument(0), argument(1), sig, doc);
      return;
    case 3:
      module.def(
          name, [&info](Handle a, Handle b, Handle c) { return record(info, a, b, c); }, argument(0), argument(1),
          argument(2), sig, doc);
      return;
    default: throw InternalError("bindings: the op " + std::string(info.name) + " has too many inputs");
  }
}

}  // namespace

const char* kept(std::string text) {
  static auto* const texts = new std::set<std::string>();
  return texts->insert(std::move(text)).first->c_str();
}

void bind_ops(nb::module_& module) {
  bind_arithmetic(module);
  bind_reductions(module);
  bind_maps(module);
  bind_losses(module);
  bind_moves(module);
  bind_rows(module);
  for (std::int32_t i = 0; i < op_count(); ++i) {
    const OpInfo& info = op_info(OpId{i});
    if (has_no_numbers(info) && info.kind != Kind::kLeaf && !nb::hasattr(module, std::string(info.name).c_str()))
      bind_one(module, info);
  }
  nb::list names;
  for (std::int32_t i = 0; i < op_count(); ++i) names.append(nb::cast(std::string(op_info(OpId{i}).name)));
  module.attr("op_names") = nb::tuple(names);
}

}  // namespace espalier::python
