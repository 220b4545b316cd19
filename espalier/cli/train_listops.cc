#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/strategy.h"
#include "espalier/base/threads.h"
#include "espalier/cli/command_line.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/listops_report.h"
#include "espalier/cli/numbers.h"
#include "espalier/cli/run_files.h"
#include "espalier/models/listops.h"
#include "espalier/train/progress.h"
#include "espalier/train/progress_bars.h"
#include "espalier/train/trainer.h"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostExpressions = 1'000'000'000;
constexpr std::int64_t kMostThreads = 1024;
constexpr std::int64_t kMostOfInt = std::numeric_limits<std::int32_t>::max();

struct TrainingOptions {
  data::ListOpsOptions grammar;
  std::int64_t train_count = 100'000;
  std::int64_t held_out_count = 2'000;
  std::string train_data;
  std::string held_out_data;
  std::string write_data;
  models::ListOpsSizes sizes;
  models::ListOpsTraining training;
  std::string out = ".";
  std::string summary;
  std::string strategy = "frontier";
  std::string ahead = "auto";
  double compare_seconds = 4;
  int threads = 0;
  bool resume = false;
  bool restart = false;
  std::string how_to_resume;
  RunFileOptions files;
};

data::ListOpsSplit read_or_generate(const TrainingOptions& options) {
  if (options.train_data.empty())
    return data::generate_listops_split(options.grammar, options.train_count, options.held_out_count);
  return {data::read_listops(options.train_data), data::read_listops(options.held_out_data)};
}

/// What eval needs to make the same held-out set again.
Metadata facts_of(const TrainingOptions& options) {
  Metadata facts{{"train_count", std::to_string(options.train_count)},
                 {"held_out_count", std::to_string(options.held_out_count)},
                 {"data_seed", std::to_string(options.grammar.seed)},
                 {"max_tokens", std::to_string(options.grammar.max_tokens)}};
  if (!options.train_data.empty()) facts = {};
  return facts;
}

/// Where an interrupted run waits for --resume.
fs::path run_folder(const TrainingOptions& options) { return fs::path(options.out) / "listops.run"; }

train::TrainerOptions trainer_options(const TrainingOptions& options, std::vector<train::Observer*> observers) {
  train::TrainerOptions result = models::trainer_options(options.training, options.sizes);
  result.folder = run_folder(options);
  result.start = options.resume ? train::Start::kResume : train::Start::kBegin;
  if (options.restart) result.start = train::Start::kReplace;
  result.handle_signals = true;
  result.how_to_resume = options.how_to_resume;
  result.observers = std::move(observers);
  return result;
}

void run_training(TrainingOptions options) {
  if (options.threads > 0) set_thread_count(options.threads);
  options.training.seed = options.grammar.seed;
  options.training.strategy = strategy_from_name(options.strategy);
  if (options.ahead != "auto")
    options.training.ahead = options.ahead == "on" ? train::RecordAhead::kAlways : train::RecordAhead::kNever;
  // Everything that could spoil the end of a long run is tried first.
  const fs::path weights = fs::path(options.out) / "listops.safetensors";
  ensure_writable_folder(options.out);
  ensure_writable_file(weights);
  if (!options.summary.empty()) ensure_writable_file(options.summary);
  if (!options.write_data.empty()) ensure_writable_folder(options.write_data);

  RunFiles files(options.files, "ListOps");

  const data::ListOpsSplit sets = read_or_generate(options);
  print_data(sets.train, sets.held_out);
  if (!options.write_data.empty()) {
    data::write_listops(fs::path(options.write_data) / "train.tsv", sets.train);
    data::write_listops(fs::path(options.write_data) / "held_out.tsv", sets.held_out);
    fmt::print("written: {0}/train.tsv and {0}/held_out.tsv\n", options.write_data);
  }

  models::ListOpsNet net(options.sizes, options.grammar.seed);
  fmt::print("Tree-LSTM: embedding {}, hidden {}, {} parameters; minibatches of {}, {} thread{}\n",
             options.sizes.embedding, options.sizes.hidden, net.model().count(), options.training.batch, thread_count(),
             thread_count() == 1 ? "" : "s");
  std::fflush(stdout);

  train::ProgressBars bars;
  std::vector<train::Observer*> observers = files.observers();
  observers.push_back(&bars);
  const models::ListOpsTask task(net, sets.train, sets.held_out);
  train::Trainer trainer(net.model(), task, trainer_options(options, std::move(observers)));
  const train::RunResult run = trainer.run();
  if (run.ending == train::Ending::kInterrupted) throw Interrupted(run.message);
  train::Progress progress({.title = "held out", .total = static_cast<std::int64_t>(sets.held_out.size())});
  const models::ListOpsScore score = models::evaluate(net, sets.held_out, shown_on(progress));
  progress.finish();
  print_score("held out", score);
  net.save(weights, facts_of(options));
  std::error_code ignored;  // what stays there is replaced by the next run
  fs::remove_all(run_folder(options), ignored);
  fmt::print("weights: {}\n", weights.string());
  files.print();
  print_statistics(trainer.statistics());
  std::vector<models::StrategySpeed> speeds;
  if (options.compare_seconds > 0) {
    speeds = models::compare_strategies(net, sets.train, options.training.batch, options.compare_seconds);
    print_speeds(options.training.batch, speeds);
  }

  if (options.summary.empty()) return;
  double seconds = 0;
  for (const train::EpochSummary& epoch : run.history) seconds += epoch.seconds;
  write_json(options.summary, {{"task", "listops"},
                               {"version", ESPALIER_VERSION},
                               {"seed", options.grammar.seed},
                               {"threads", thread_count()},
                               {"data", options.train_data.empty() ? "generated" : "read"},
                               {"max_tokens", options.grammar.max_tokens},
                               {"train_instances", sets.train.size()},
                               {"held_out_instances", sets.held_out.size()},
                               {"depth_histogram", data::listops_depth_histogram(sets.held_out)},
                               {"majority_baseline", data::majority_baseline(sets.held_out)},
                               {"embedding", options.sizes.embedding},
                               {"hidden", options.sizes.hidden},
                               {"parameters", net.model().count()},
                               {"batch", options.training.batch},
                               {"learning_rate", options.training.learning_rate},
                               {"epochs", to_json(run.history, sets.train.size())},
                               {"training_seconds", seconds},
                               {"strategy", options.strategy},
                               {"statistics", to_json(trainer.statistics())},
                               {"speeds", to_json(speeds)},
                               {"held_out", to_json(score)},
                               {"weights", weights.string()}});
  fmt::print("summary: {}\n", options.summary);
}

}  // namespace

void add_train_listops(CLI::App& train) {
  auto options = std::make_shared<TrainingOptions>();
  CLI::App* command = train.add_subcommand(
      "listops", "Train a Tree-LSTM on ListOps (Nangia and Bowman, 2018), from data it generates or reads");
  command->add_option("--out", options->out, "Folder for the weights, listops.safetensors")->capture_default_str();
  add_run_files(*command, options->files);
  command->add_option("--summary", options->summary, "Write the run's figures to this file, as JSON");
  command->add_option("--train", options->train_count, "Number of expressions to generate for training")
      ->capture_default_str()
      ->check(whole_number(1, kMostExpressions));
  command->add_option("--held-out", options->held_out_count, "Number of expressions to generate for the final score")
      ->capture_default_str()
      ->check(whole_number(1, kMostExpressions));
  command->add_option("--max-tokens", options->grammar.max_tokens, "Maximum length of an expression")
      ->capture_default_str()
      ->check(whole_number(1, kMostOfInt));
  command->add_option("--seed", options->grammar.seed, "Seed of the data, the initial weights and the order")
      ->capture_default_str()
      ->check(whole_number_of_64_bits());
  CLI::Option* from = command->add_option("--train-data", options->train_data,
                                          "Read the training expressions from this file: label, tab, expression");
  CLI::Option* held =
      command->add_option("--held-out-data", options->held_out_data, "Read the expressions for the final score");
  from->needs(held);
  held->needs(from);
  command->add_option("--write-data", options->write_data, "Write train.tsv and held_out.tsv to this folder");
  command->add_option("--embedding", options->sizes.embedding, "Size of the embedding of a token")
      ->capture_default_str()
      ->check(whole_number(1, 1 << 14));
  command->add_option("--hidden", options->sizes.hidden, "Size of the Tree-LSTM's state")
      ->capture_default_str()
      ->check(whole_number(1, 1 << 14));
  command->add_option("--epochs", options->training.epochs, "Passes over the training expressions")
      ->capture_default_str()
      ->check(whole_number(1, kMostOfInt));
  command->add_option("--batch", options->training.batch, "Batch size, in expressions")
      ->capture_default_str()
      ->check(whole_number(1, kMostOfInt));
  command->add_option("--learning-rate", options->training.learning_rate, "Learning rate of Adam, after the warm-up")
      ->capture_default_str()
      ->check(positive_number());
  command->add_option("--warmup", options->training.warmup, "Steps of warm-up; at most a tenth of all steps")
      ->capture_default_str()
      ->check(whole_number(0, kMostOfInt));
  command->add_option("--clip", options->training.clip_norm, "Clip gradients to this norm")
      ->capture_default_str()
      ->check(positive_number());
  command->add_option("--strategy", options->strategy, "How nodes are batched")
      ->capture_default_str()
      ->check(strategy_name());
  command
      ->add_option("--ahead", options->ahead,
                   "Record the next minibatch while one runs: on, off, or auto (if that is expected to pay)")
      ->capture_default_str()
      ->check(one_of({"auto", "on", "off"}));
  command
      ->add_option("--compare", options->compare_seconds,
                   "Seconds to spend at the end on comparing the speed of the strategies; 0 to skip")
      ->capture_default_str()
      ->check(non_negative_number());
  command->add_option("--threads", options->threads, "Threads to use (default: ESPALIER_THREADS, or all cores)")
      ->check(whole_number(1, kMostThreads));
  CLI::Option* resume = command->add_flag("--resume", options->resume, "Resume the run that was interrupted");
  command->add_flag("--restart", options->restart, "Start from the beginning, although a run was interrupted")
      ->excludes(resume);
  command->callback([options, command] {
    options->how_to_resume = command_line_of(*command, "--restart") + (options->resume ? "" : " --resume");
    run_training(*options);
  });
}

}  // namespace espalier::cli
