/// `espalier explain RUN`: what batching makes of the records of a trained model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/strategy.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/numbers.h"
#include "espalier/exec/explain_plan.h"
#include "espalier/graph/graph.h"
#include "espalier/models/standard_model.h"
#include "espalier/ops/all.h"

namespace espalier::cli {
namespace {

struct ExplainCommand {
  std::string run;
  std::string data;
  std::int64_t records = 32;
  std::string strategy = "frontier";
  bool training = false;
  bool nodes = false;
  bool skip_damaged = false;
};

void explain(const ExplainCommand& options) {
  const std::unique_ptr<models::StandardModel> model = models::load(options.run);
  const data::ReadReport report = model->read_test(options.data, {.skip_damaged = options.skip_damaged});
  if (report.damaged > 0) fmt::print(stderr, "{}\n", report.summary());

  Graph graph({.training = options.training, .strategy = strategy_from_name(options.strategy)});
  const std::int64_t count = std::min(options.records, model->size(train::Split::kTest));
  std::vector<Expr> losses;
  losses.reserve(static_cast<std::size_t>(count));
  std::vector<Expr> outputs;
  for (std::int64_t i = 0; i < count; ++i) {
    graph.begin_instance(static_cast<std::uint64_t>(i));
    losses.push_back(model->record(graph, train::Split::kTest, i, outputs));
  }
  fmt::print("{} records of {}\n", count, options.data);
  if (options.nodes) fmt::print("{}", graph.list_nodes());
  if (options.training) {
    fmt::print("{}", explain_plan({sum(losses)}, RunKind::kBackward));
  } else {
    fmt::print("{}", explain_plan(outputs, RunKind::kFinish));
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainCommand>();
  CLI::App* command = app.add_subcommand(
      "explain", "Say how a trained model's records are batched, and what cannot be batched and why");
  command->add_option("run", options->run, "The folder of a run of `espalier train MODEL`")->required();
  command->add_option("--data", options->data, "A file or folder as for training")->required();
  command->add_option("--records", options->records, "How many of its records, taken together")
      ->capture_default_str()
      ->check(whole_number(1, 1'000'000));
  command->add_option("--strategy", options->strategy, "How nodes are scheduled")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "depth", "agenda", "frontier"}));
  command->add_flag("--training", options->training, "A step of training, forward and backward, instead of prediction");
  command->add_flag("--nodes", options->nodes, "List the recorded nodes first");
  command->add_flag("--skip-damaged", options->skip_damaged, "Leave damaged records out, and say how many");
  command->footer(
      "Nothing is computed: records are collected, scheduled and planned.\n"
      "Example:\n"
      "  espalier explain sentiment.run --data sst --records 64 --training");
  command->callback([options] { explain(*options); });
}

}  // namespace espalier::cli
