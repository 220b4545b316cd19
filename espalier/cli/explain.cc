/// `espalier explain MODEL INPUT...`: what batching makes of the records of a model.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/strategy.h"
#include "espalier/base/trace.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/numbers.h"
#include "espalier/exec/explain_plan.h"
#include "espalier/graph/graph.h"
#include "espalier/models/standard_model.h"
#include "espalier/ops/all.h"
#include "espalier/show/page.h"
#include "espalier/show/trace_file.h"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

struct ExplainCommand {
  std::string model;
  std::vector<std::string> inputs;
  std::string data;
  std::int64_t records = 32;
  std::string strategy = "frontier";
  std::string form;
  std::string out;
  std::string trace;
  bool svg = false;
  bool animate = false;
  bool text = false;
  bool training = false;
  bool nodes = false;
  bool skip_damaged = false;

  bool draws() const { return svg || animate || !out.empty(); }
  /// Otherwise nothing is computed.
  bool runs() const { return draws() || text || !trace.empty(); }
  models::Form form_of_records() const {
    if (!form.empty()) return form == "rows" ? models::Form::kRows : models::Form::kNodes;
    return runs() ? models::Form::kNodes : models::Form::kRows;
  }
};

/// The records of all inputs, taken together.
class Records {
 public:
  explicit Records(const ExplainCommand& options) : options_(options) {
    is_trained_ = fs::exists(fs::path(options.model) / "model.json");
    if (is_trained_)
      model_ = models::load(options.model, options.form_of_records());
    else
      make_model();
  }

  /// Records at most `options.records` of them, in a graph that is empty.
  void record(Graph& graph, std::vector<Expr>& losses, std::vector<Expr>& outputs) {
    texts_.clear();
    if (!is_trained_) return add(graph, train::Split::kTrain, losses, outputs);
    for (const std::string& input : options_.inputs) {
      if (count() >= options_.records) return;
      read(input);
      add(graph, train::Split::kTest, losses, outputs);
    }
  }

  std::int64_t count() const { return std::ssize(texts_); }
  const std::string& text(std::int32_t i) const { return texts_[static_cast<std::size_t>(i)]; }
  std::string_view model_name() const { return model_->name(); }

 private:
  /// A model that was not trained, made from the inputs themselves.
  void make_model() {
    const std::span<const std::string_view> names = models::names();
    if (std::find(names.begin(), names.end(), options_.model) == names.end())
      throw UsageError(fmt::format(
          "explain: \"{}\" is neither a folder of a run of `espalier train MODEL` nor the name of a model ({})",
          options_.model, fmt::join(names, ", ")));
    model_ = models::make(options_.model);
    model_->record_as(options_.form_of_records());
    model_->settings().at("held_out").assign_text("0");
    models::DataPlaces places;
    if (options_.inputs.size() == 1)
      places[0] = models::find_data(options_.inputs[0])[0];
    else
      places[0].assign(options_.inputs.begin(), options_.inputs.end());
    tell(model_->read_data(places, {.skip_damaged = options_.skip_damaged}));
    model_->build(/*seed=*/1);
  }

  /// Unless it is what was read last.
  void read(const std::string& input) {
    if (input == newest_) return;
    newest_ = input;
    tell(model_->read_test(input, {.skip_damaged = options_.skip_damaged}));
  }

  void tell(const data::ReadReport& report) const {
    if (report.damaged > 0) fmt::print(stderr, "{}\n", report.summary());
  }

  void add(Graph& graph, train::Split split, std::vector<Expr>& losses, std::vector<Expr>& outputs) {
    const std::int64_t more = std::min(options_.records - count(), model_->size(split));
    for (std::int64_t i = 0; i < more; ++i) {
      graph.begin_instance(static_cast<std::uint64_t>(count()));
      losses.push_back(model_->record(graph, split, i, outputs));
      texts_.push_back(model_->text(split, i));
    }
  }

  const ExplainCommand& options_;
  std::unique_ptr<models::StandardModel> model_;
  bool is_trained_ = false;
  std::string newest_;
  std::vector<std::string> texts_;
};

/// Records and computes in a graph; returns the seconds of both.
double run_once(const ExplainCommand& options, Records& records, Graph& graph) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Expr> losses;
  std::vector<Expr> outputs;
  records.record(graph, losses, outputs);
  if (options.training)
    sum(losses).backward();
  else
    graph.finish(outputs);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The least of a few runs by each strategy, in turns, so that whatever else the machine does concerns all of them. The
/// first of each also makes what later ones find in place.
std::vector<PageOptions::Measured> measure(const ExplainCommand& options, Records& records) {
  constexpr int kRounds = 9;
  constexpr double kLongEnough = 2;  // seconds, of all rounds
  std::vector<PageOptions::Measured> all;
  std::vector<std::unique_ptr<Graph>> graphs;
  for (const Strategy strategy : kAllStrategies) {
    all.push_back({strategy, std::numeric_limits<double>::infinity()});
    graphs.push_back(std::make_unique<Graph>(GraphOptions{.training = options.training, .strategy = strategy}));
  }
  double spent = 0;
  for (int round = 0; round < kRounds && spent < kLongEnough; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double seconds = run_once(options, records, *graphs[i]);
      graphs[i]->clear();
      all[i].seconds = std::min(all[i].seconds, seconds);
      spent += seconds;
    }
  return all;
}

void write_or_print(const std::string& path, const std::string& text) {
  if (path.empty())
    fmt::print("{}", text);
  else
    write_file_atomically(path, text);
}

/// Computes the records, and writes what was asked for.
void run_and_show(const ExplainCommand& options, Records& records) {
  const bool is_picture = options.svg || options.animate || fs::path(options.out).extension() == ".svg";
  const bool is_page = !is_picture && !options.out.empty();
  PageOptions page;
  if (is_page || options.text) page.measured = measure(options, records);
  const Strategy strategy = strategy_from_name(options.strategy);
  Graph graph({.training = options.training, .strategy = strategy});
  run_once(options, records, graph);  // weights are laid out, memory is there
  graph.clear();
  Trace trace;
  const double seconds = run_once(options, records, graph);
  trace.stop();
  for (PageOptions::Measured& measured : page.measured)
    if (measured.strategy == strategy) measured.seconds = std::min(measured.seconds, seconds);
  page.title =
      fmt::format("{} of the model {}", records.count() == 1 ? "1 input" : fmt::format("{} inputs", records.count()),
                  records.model_name());
  page.footer = fmt::format("espalier {} explain, strategy {}, {}", ESPALIER_VERSION, options.strategy,
                            options.training ? "a step of training" : "prediction");
  page.text = [&](std::int32_t i) { return records.text(i); };
  page.trace = &trace;
  if (options.form_of_records() == models::Form::kNodes && is_page)
    page.notes.emplace_back(
        "These inputs were recorded node by node, so that they can be drawn, and the times above are of that. Where "
        "the "
        "model can, training and prediction record a whole input as a few nodes of many rows, which is faster still; "
        "--form rows shows that.");
  if (!options.trace.empty()) write_trace(trace, options.trace);
  if (is_picture) return write_or_print(options.out, picture_svg(graph, options.animate, page));
  if (is_page) write_page(graph, options.out, page);
  if (options.text || (!is_page && options.trace.empty())) fmt::print("{}", page_summary(graph, page));
}

/// Collects, schedules and plans; computes nothing.
void plan_and_print(const ExplainCommand& options, Records& records) {
  Graph graph({.training = options.training, .strategy = strategy_from_name(options.strategy)});
  std::vector<Expr> losses;
  std::vector<Expr> outputs;
  records.record(graph, losses, outputs);
  fmt::print("{} records of {}\n", records.count(), fmt::join(options.inputs, ", "));
  if (options.nodes) fmt::print("{}", graph.list_nodes());
  if (options.training)
    fmt::print("{}", explain_plan({sum(losses)}, RunKind::kBackward));
  else
    fmt::print("{}", explain_plan(outputs, RunKind::kFinish));
}

void explain(ExplainCommand options) {
  if (!options.data.empty()) options.inputs.push_back(options.data);
  if (options.inputs.empty()) throw UsageError("explain: name at least one input: a file or folder as for training");
  Records records(options);
  if (options.runs())
    run_and_show(options, records);
  else
    plan_and_print(options, records);
}

}  // namespace

void add_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainCommand>();
  CLI::App* command =
      app.add_subcommand("explain", "Show how a model's records are batched, and what cannot be batched and why");
  command
      ->add_option("MODEL", options->model,
                   "The folder of a run of `espalier train MODEL`; or the name of a model, which is then made from "
                   "the inputs and not trained")
      ->required();
  command->add_option("INPUTS", options->inputs, "Files or folders, in the format of the training data");
  command->add_option("--data", options->data, "One more input");
  command->add_option("-o,--out", options->out, "Write a page (HTML), or a picture if the name ends in .svg");
  command->add_flag("--svg", options->svg, "A picture for papers instead of the page; without -o it is printed");
  command->add_flag("--animate", options->animate, "The same in motion, without a script");
  command->add_flag("--text", options->text, "Print steps, reasons, strategies with their times, and advice");
  command->add_option("--trace", options->trace, "Write a timeline for Perfetto or chrome://tracing (JSON)");
  command->add_option("--records", options->records, "Batch size, in records")
      ->capture_default_str()
      ->check(whole_number(1, 1'000'000));
  command->add_option("--strategy", options->strategy, "How nodes are batched")
      ->capture_default_str()
      ->check(strategy_name());
  command
      ->add_option("--form", options->form,
                   "How records are recorded, where the model has a choice: `nodes`, one by one, the default for "
                   "pages and pictures; `rows`, many in a node, as training does, the default without them")
      ->check(one_of({"rows", "nodes"}));
  command->add_flag("--training", options->training,
                    "Explain a training step, forward and backward, instead of prediction");
  command->add_flag("--nodes", options->nodes, "List the recorded nodes first");
  command->add_flag("--skip-damaged", options->skip_damaged, "Skip damaged records, and say how many");
  command->footer(
      "Without -o, --svg, --text and --trace nothing is computed: records are collected, scheduled and planned.\n"
      "Example:\n"
      "  espalier explain sentiment.run sst --records 64 --training -o batches.html");
  command->callback([options] { explain(*options); });
}

}  // namespace espalier::cli
