#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/nearest.h"
#include "espalier/cli/commands.h"
#include "espalier/graph/op_info.h"

namespace espalier::cli {
namespace {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kLeaf: return "leaf";
    case Kind::kMap: return "map";
    case Kind::kProduct: return "product";
    case Kind::kReduce: return "reduce";
    case Kind::kMove: return "move";
    case Kind::kCell:
    case Kind::kResult: return "cell";
  }
  return "";
}

std::string inputs_of(const OpInfo& info) {
  std::string text;
  for (const Input& input : info.inputs) {
    if (!text.empty()) text += ", ";
    text += input.name;
    if (input.role == Role::kRagged) text += "... (any number, batched together)";
    if (input.role == Role::kMany) text += "... (any number)";
    if (input.role == Role::kEither) text += " (may be shared)";
    if (input.role == Role::kShared) text += " (shared)";
  }
  return text;
}

/// All ops, by name.
std::vector<const OpInfo*> sorted_ops() {
  std::vector<const OpInfo*> infos;
  infos.reserve(static_cast<std::size_t>(op_count()));
  for (std::int32_t i = 0; i < op_count(); ++i) infos.push_back(&op_info(OpId{i}));
  std::sort(infos.begin(), infos.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return infos;
}

/// The page of one op. Refuses (UsageError) an unknown name with the nearest.
void print_op(std::string_view name) {
  const std::vector<const OpInfo*> infos = sorted_ops();
  const auto found = std::find_if(infos.begin(), infos.end(), [&](const OpInfo* info) { return info->name == name; });
  if (found == infos.end()) {
    std::vector<std::string_view> names;
    names.reserve(infos.size());
    for (const OpInfo* info : infos) names.push_back(info->name);
    throw UsageError(
        fmt::format("there is no op \"{}\"{} (`espalier ops` prints all of them)", name, suggestion(name, names)));
  }
  const OpInfo& info = **found;
  fmt::print("# {}\n\n    {}\n\n- kind: {}\n- inputs: {}\n", info.name, info.contract, name_of(info.kind),
             info.inputs.empty() ? "none" : inputs_of(info));
}

/// The table of all ops.
void print_page() {
  fmt::print(
      "# Ops\n\nMade by `espalier ops` from the ops themselves. A *shared* input is a parameter, or computed from "
      "parameters only.\n\n| op | kind | inputs | what it computes |\n|---|---|---|---|\n");
  for (const OpInfo* info : sorted_ops()) {
    std::string contract(info->contract);
    for (std::size_t at = 0; (at = contract.find('|', at)) != std::string::npos; at += 2)
      contract.replace(at, 1, "\\|");
    fmt::print("| `{}` | {} | {} | `{}` |\n", info->name, name_of(info->kind), inputs_of(*info), contract);
  }
}

}  // namespace

void add_ops(CLI::App& app) {
  CLI::App* command = app.add_subcommand("ops", "Print the table of all ops, or the page of one, as Markdown");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "The op");
  command->callback([name] {
    if (name->empty())
      print_page();
    else
      print_op(*name);
  });
}

}  // namespace espalier::cli
