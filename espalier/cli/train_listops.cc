#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/threads.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/listops_report.h"
#include "espalier/train/listops.h"
#include "espalier/train/progress.h"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kStrategies{Strategy::kNone, Strategy::kDepth, Strategy::kAgenda, Strategy::kFrontier};

struct TrainingOptions {
  data::ListOpsOptions grammar;
  std::int64_t train_count = 100'000;
  std::int64_t held_out_count = 2'000;
  std::string train_data;
  std::string held_out_data;
  std::string write_data;
  train::ListOpsSizes sizes;
  train::ListOpsTraining training;
  std::string out = ".";
  std::string summary;
  std::string strategy = "frontier";
  std::string ahead = "auto";
  double compare_seconds = 4;
  int threads = 0;
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

void run_training(TrainingOptions options) {
  if (options.threads > 0) set_thread_count(options.threads);
  options.training.seed = options.grammar.seed;
  for (const Strategy strategy : kStrategies)
    if (options.strategy == name_of(strategy)) options.training.strategy = strategy;
  if (options.ahead != "auto")
    options.training.ahead = options.ahead == "on" ? train::RecordAhead::kAlways : train::RecordAhead::kNever;
  // Everything that could spoil the end of a long run is tried first.
  const fs::path weights = fs::path(options.out) / "listops.safetensors";
  ensure_writable_folder(options.out);
  ensure_writable_file(weights);
  if (!options.summary.empty()) ensure_writable_file(options.summary);
  if (!options.write_data.empty()) ensure_writable_folder(options.write_data);

  const data::ListOpsSplit sets = read_or_generate(options);
  print_data(sets.train, sets.held_out);
  if (!options.write_data.empty()) {
    data::write_listops(fs::path(options.write_data) / "train.tsv", sets.train);
    data::write_listops(fs::path(options.write_data) / "held_out.tsv", sets.held_out);
    fmt::print("written: {0}/train.tsv and {0}/held_out.tsv\n", options.write_data);
  }

  train::ListOpsNet net(options.sizes, options.grammar.seed);
  fmt::print("Tree-LSTM: embedding {}, hidden {}, {} parameters; minibatches of {}, {} thread{}\n",
             options.sizes.embedding, options.sizes.hidden, net.model().count(), options.training.batch, thread_count(),
             thread_count() == 1 ? "" : "s");
  std::fflush(stdout);

  nlohmann::ordered_json epochs = nlohmann::ordered_json::array();
  train::ListOpsTrainer trainer(net, sets.train, options.training);
  double seconds = 0;
  for (std::int32_t epoch = 1; epoch <= options.training.epochs; ++epoch) {
    train::Progress progress({.title = fmt::format("epoch {}/{}", epoch, options.training.epochs),
                              .total = static_cast<std::int64_t>(sets.train.size())});
    const train::ListOpsScore score = trainer.run_epoch(shown_on(progress));
    progress.finish();
    seconds += progress.seconds();
    nlohmann::ordered_json entry = to_json(score);
    entry["seconds"] = progress.seconds();
    entry["instances_per_second"] = progress.rate();
    epochs.push_back(std::move(entry));
  }

  train::Progress progress({.title = "held out", .total = static_cast<std::int64_t>(sets.held_out.size())});
  const train::ListOpsScore score = train::evaluate(net, sets.held_out, shown_on(progress));
  progress.finish();
  print_score("held out", score);
  net.save(weights, facts_of(options));
  fmt::print("weights: {}\n", weights.string());
  print_statistics(trainer.statistics());
  std::vector<train::StrategySpeed> speeds;
  if (options.compare_seconds > 0) {
    speeds = train::compare_strategies(net, sets.train, options.training.batch, options.compare_seconds);
    print_speeds(options.training.batch, speeds);
  }

  if (options.summary.empty()) return;
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
                               {"epochs", std::move(epochs)},
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
  command->add_option("--summary", options->summary, "Write the run's figures to this file, as JSON");
  command->add_option("--train", options->train_count, "How many expressions to generate for training")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--held-out", options->held_out_count, "How many further ones to generate for the final score")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--max-tokens", options->grammar.max_tokens, "No longer expressions than this")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", options->grammar.seed, "Chooses data, weights and order")->capture_default_str();
  CLI::Option* from = command->add_option("--train-data", options->train_data,
                                          "Read the training expressions from this file: value, tab, expression");
  CLI::Option* held = command->add_option("--held-out-data", options->held_out_data, "The same for the final score");
  from->needs(held);
  held->needs(from);
  command->add_option("--write-data", options->write_data, "Write train.tsv and held_out.tsv to this folder");
  command->add_option("--embedding", options->sizes.embedding, "Size of the embedding of a token")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 14));
  command->add_option("--hidden", options->sizes.hidden, "Size of the Tree-LSTM's state")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 14));
  command->add_option("--epochs", options->training.epochs, "Passes over the training expressions")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--batch", options->training.batch, "Expressions in a minibatch")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--learning-rate", options->training.learning_rate, "Of Adam, after the warm-up")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--warmup", options->training.warmup,
                   "Steps in which the learning rate rises; at most a tenth of all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--clip", options->training.clip_norm, "Largest norm of a gradient")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--strategy", options->strategy, "How nodes are brought together: none, depth, agenda, frontier")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "depth", "agenda", "frontier"}));
  command
      ->add_option("--ahead", options->ahead,
                   "Record the next minibatch while one runs: on, off, or auto, where that was measured to pay")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "on", "off"}));
  command
      ->add_option("--compare", options->compare_seconds,
                   "Seconds to spend at the end on comparing the strategies' speed; 0 leaves it out")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--threads", options->threads, "Threads to use (default: ESPALIER_THREADS, or all cores)")
      ->check(CLI::Range(1, 1024));
  command->callback([options] { run_training(*options); });
}

}  // namespace espalier::cli
