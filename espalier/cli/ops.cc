#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

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

/// The reference page.
void print_page() {
  fmt::print(
      "# Ops\n\nMade by `espalier ops` from the ops themselves. A *shared* input is a parameter, or computed from "
      "parameters only.\n\n| op | kind | inputs | what it computes |\n|---|---|---|---|\n");
  std::vector<const OpInfo*> infos;
  infos.reserve(static_cast<std::size_t>(op_count()));
  for (std::int32_t i = 0; i < op_count(); ++i) infos.push_back(&op_info(OpId{i}));
  std::sort(infos.begin(), infos.end(), [](auto* a, auto* b) { return a->name < b->name; });
  for (const OpInfo* info : infos) {
    std::string contract(info->contract);
    for (std::size_t at = 0; (at = contract.find('|', at)) != std::string::npos; at += 2)
      contract.replace(at, 1, "\\|");
    fmt::print("| `{}` | {} | {} | `{}` |\n", info->name, name_of(info->kind), inputs_of(*info), contract);
  }
}

}  // namespace

void add_ops(CLI::App& app) {
  CLI::App* command = app.add_subcommand("ops", "Print the table of all ops, as Markdown");
  command->callback([] { print_page(); });
}

}  // namespace espalier::cli
