#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/threads.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/listops_report.h"
#include "espalier/cli/model_runs.h"
#include "espalier/cli/numbers.h"
#include "espalier/models/listops.h"

namespace espalier::cli {
namespace {

struct EvalOptions {
  std::string run;
  std::string weights;
  std::string data;
  std::string summary;
  int threads = 0;
  bool skip_damaged = false;
};

template <class T>
T number_in(const Metadata& facts, std::string_view key, const std::string& path) {
  T value{};
  if (const auto found = facts.find(key); found != facts.end()) {
    const char* end = found->second.data() + found->second.size();
    if (const auto parsed = std::from_chars(found->second.data(), end, value);
        parsed.ec == std::errc() && parsed.ptr == end)
      return value;
  }
  throw UsageError(fmt::format(
      "{} does not say how to make its held-out expressions again; give a file of expressions with --data", path));
}

/// The held-out set of the run that made the weights, generated again.
std::vector<data::Tree> held_out_of(const Metadata& facts, const std::string& path) {
  data::ListOpsOptions grammar;
  grammar.seed = number_in<std::uint64_t>(facts, "data_seed", path);
  grammar.max_tokens = number_in<std::int32_t>(facts, "max_tokens", path);
  return data::generate_listops_split(grammar, number_in<std::int64_t>(facts, "train_count", path),
                                      number_in<std::int64_t>(facts, "held_out_count", path))
      .held_out;
}

/// Refuses (UsageError) what `espalier train listops` wrote.
void require_run(const std::string& run) {
  namespace fs = std::filesystem;
  fs::path weights = run;
  if (!fs::is_regular_file(weights)) weights /= "listops.safetensors";
  if (fs::is_regular_file(weights) && !fs::exists(fs::path(run) / "model.json"))
    throw UsageError(fmt::format("eval: this takes the weights of `espalier train listops` as an option: --weights {}",
                                 weights.string()));
}

void run_eval(const EvalOptions& options) {
  if (options.threads > 0) set_thread_count(options.threads);
  if (!options.run.empty()) require_run(options.run);
  if (!options.run.empty())
    return eval_run(
        {.run = options.run, .data = options.data, .summary = options.summary, .skip_damaged = options.skip_damaged});
  if (options.weights.empty())
    throw UsageError("eval: name the folder of a run, or with --weights the weights of `espalier train listops`");
  if (!options.summary.empty()) ensure_writable_file(options.summary);
  Metadata facts;
  const models::ListOpsNet net = models::ListOpsNet::load(options.weights, &facts);
  const std::vector<data::Tree> trees =
      options.data.empty() ? held_out_of(facts, options.weights) : data::read_listops(options.data);
  if (!options.data.empty()) print_data({}, trees);  // training printed that of its own held-out set
  train::Progress progress({.title = "eval", .total = static_cast<std::int64_t>(trees.size())});
  const models::ListOpsScore score = models::evaluate(net, trees, shown_on(progress));
  progress.finish();
  print_score(options.data.empty() ? "held out" : options.data, score);
  if (!options.summary.empty())
    write_json(options.summary, {{"task", "listops"},
                                 {"version", ESPALIER_VERSION},
                                 {"weights", options.weights},
                                 {"majority_baseline", data::majority_baseline(trees)},
                                 {"held_out", to_json(score)}});
}

}  // namespace

void add_eval(CLI::App& app) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Evaluate a trained model on data");
  CLI::Option* run = command->add_option("RUN", options->run, "The folder of a run of `espalier train MODEL`");
  command->add_option("--weights", options->weights, "Weights of `espalier train listops`, instead of RUN")
      ->excludes(run);
  command->add_option("--data", options->data,
                      "Data to evaluate on, in the format of the training data. ListOps: label, tab, expression "
                      "(default: the held-out data of the training run)");
  command->add_flag("--skip-damaged", options->skip_damaged, "Skip damaged records, and say how many");
  command->add_option("--summary", options->summary, "Write the figures to this file, as JSON");
  command->add_option("--threads", options->threads, "Threads to use (default: ESPALIER_THREADS, or all cores)")
      ->check(whole_number(1, 1024));
  command->footer("Example: espalier eval sentiment.run --data sst --summary figures.json");
  command->callback([options] { run_eval(*options); });
}

}  // namespace espalier::cli
