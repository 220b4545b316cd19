/// `espalier predict` and `espalier eval` of the standard models.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/threads.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/model_runs.h"
#include "espalier/cli/numbers.h"
#include "espalier/models/standard_model.h"

namespace espalier::cli {
namespace {

struct PredictCommand {
  std::string run;
  std::vector<std::string> files;
  std::string format = "auto";
  std::int64_t batch = 64;
  int threads = 0;
  bool skip_damaged = false;
};

/// Standard input and files named so are JSON lines; other files are as the training data.
bool is_json_lines(const PredictCommand& command, const std::string& file) {
  if (command.format != "auto") return command.format == "json";
  const auto has = [&](std::string_view ending) { return file.find(ending) != std::string::npos; };
  return file == "-" || has(".jsonl") || has(".json");
}

void predict(const PredictCommand& command) {
  if (command.threads > 0) set_thread_count(command.threads);
  const std::unique_ptr<models::StandardModel> model = load_model(command.run);
  std::vector<std::string> files = command.files;
  if (files.empty()) files.emplace_back("-");
  for (const std::string& file : files) {
    const models::PredictOptions options{.json_lines = is_json_lines(command, file),
                                         .batch = command.batch,
                                         .read = {.skip_damaged = command.skip_damaged}};
    const data::ReadReport report = model->predict(data::Input(file), options, [](const Value& answer) {
      fmt::print("{}\n", answer.to_text());
      std::fflush(stdout);
    });
    if (report.damaged > 0) fmt::print(stderr, "{}: {}\n", file, report.summary());
  }
}

}  // namespace

void print_metrics(train::Split split, const train::Evaluation& evaluation) {
  std::string text;
  for (const train::Metric& metric : evaluation.metrics)
    text += fmt::format("{}{} {:.4f}", text.empty() ? "" : ", ", metric.name, metric.value);
  fmt::print("{}: {} ({} records)\n", train::name_of(split), text, evaluation.instances);
}

void eval_run(const EvalOfRun& options) {
  if (options.data.empty()) throw UsageError("eval: --data must name a file or folder to evaluate on");
  if (!options.summary.empty()) ensure_writable_file(options.summary);
  const std::unique_ptr<models::StandardModel> model = models::load(options.run);
  const data::ReadReport report = model->read_test(options.data, {.skip_damaged = options.skip_damaged});
  if (report.damaged > 0) fmt::print(stderr, "{}\n", report.summary());
  const train::Evaluation evaluation = train::evaluate(*model, train::Split::kTest);
  print_metrics(train::Split::kTest, evaluation);
  if (options.summary.empty()) return;
  std::vector<Value::Entry> metrics;
  for (const train::Metric& metric : evaluation.metrics)
    metrics.push_back({metric.name, std::isfinite(metric.value) ? Value(metric.value) : Value()});
  const Value summary = Value::map({{"model", model->name()},
                                    {"run", options.run},
                                    {"data", options.data},
                                    {"records", evaluation.instances},
                                    {"metrics", Value::map(std::move(metrics))}});
  write_file_atomically(options.summary, summary.to_text() + "\n");
}

void add_predict(CLI::App& app) {
  auto command = std::make_shared<PredictCommand>();
  CLI::App* predicting =
      app.add_subcommand("predict", "Print a trained model's answers, one line of JSON per record, in order");
  predicting->add_option("RUN", command->run, "The folder of a run, or a file that `espalier export` wrote")
      ->required();
  predicting->add_option("FILES", command->files, "Files of records (default: -, standard input)");
  predicting
      ->add_option(
          "--format", command->format,
          "Format of the records: JSON lines, or that of the training data. auto: JSON lines for standard input and "
          "files with .json in their name")
      ->capture_default_str()
      ->check(one_of({"auto", "json", "data"}));
  predicting->add_option("--batch", command->batch, "Batch size, in records; 1 answers each record at once")
      ->capture_default_str()
      ->check(whole_number(1, 1'000'000));
  predicting->add_option("--threads", command->threads, "Threads to use (default: ESPALIER_THREADS, or all cores)")
      ->check(whole_number(1, 1024));
  predicting->add_flag("--skip-damaged", command->skip_damaged, "Skip damaged records, and say how many");
  predicting->footer(
      "Example:\n"
      "  echo '{\"words\": [\"Ann\", \"lives\", \"in\", \"Rome\"]}' | espalier predict tagger.run\n"
      "docs/models.md has the records of each model.");
  predicting->callback([command] { predict(*command); });
}

}  // namespace espalier::cli
