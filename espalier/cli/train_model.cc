/// `espalier train MODEL`: the standard models, with a flag for each of their settings.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/threads.h"
#include "espalier/cli/command_line.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/model_runs.h"
#include "espalier/cli/numbers.h"
#include "espalier/cli/run_files.h"
#include "espalier/data/json.h"
#include "espalier/models/run_settings.h"
#include "espalier/models/standard_model.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/observer.h"
#include "espalier/train/progress_bars.h"
#include "espalier/train/report_observer.h"
#include "espalier/train/run_logs.h"
#include "espalier/train/trainer.h"

namespace espalier::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFile = "run.json";

struct ModelTraining {
  std::string model;
  std::string data, held_out_data, test_data;
  std::string out;
  std::string config;
  std::string trace;
  std::map<std::string, std::string> given;  // settings, by name
  int threads = 0;
  bool skip_damaged = false;
  bool resume = false;
  bool restart = false;
  std::string how_to_resume;
};

/// The setting of a name, of the model or of the run.
const models::Setting& setting_at(const models::SettingList& model, const models::SettingList& run,
                                  const std::string& name) {
  if (const models::Setting* found = run.find(name)) return *found;
  return model.at(name);
}

/// What the file that repeats a run says: data and settings.
void read_config(ModelTraining& options, const models::SettingList& model, const models::SettingList& run) {
  const Value config = data::read_json(options.config);
  try {
    const auto text = [&](const char* key, std::string& to) {
      const Value* found = config.find(key);
      if (found != nullptr && to.empty()) to = found->as_string();
    };
    if (const Value* name = config.find("model"); name != nullptr && name->as_string() != options.model)
      throw UsageError(fmt::format("it is of the model \"{}\", not \"{}\"", name->as_string(), options.model));
    text("data", options.data);
    text("held_out_data", options.held_out_data);
    text("test_data", options.test_data);
    if (const Value* settings = config.find("settings"))
      for (const Value::Entry& entry : settings->entries()) setting_at(model, run, entry.key).assign(entry.value);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", options.config, error.what()));
  }
}

/// The file that repeats a run.
void write_config(const ModelTraining& options, const models::SettingList& model, const models::SettingList& run) {
  std::vector<Value::Entry> settings;
  for (const models::SettingList* list : {&run, &model})
    for (const models::Setting& setting : list->all()) settings.push_back({setting.name, setting.value()});
  const Value value = Value::map({{"model", options.model},
                                  {"data", options.data},
                                  {"held_out_data", options.held_out_data},
                                  {"test_data", options.test_data},
                                  {"settings", Value::map(std::move(settings))}});
  write_file_atomically(fs::path(options.out) / kRunFile, value.to_text() + "\n");
}

models::DataPlaces places_of(const ModelTraining& options) {
  if (options.data.empty()) throw UsageError("train: --data must name a folder or a file of training data");
  models::DataPlaces places = models::find_data(options.data);
  if (!options.held_out_data.empty()) places[1] = {options.held_out_data};
  if (!options.test_data.empty()) places[2] = {options.test_data};
  return places;
}

/// Writes the files beside the weights once the run has its folder to itself.
class SavesModel : public train::Observer {
 public:
  explicit SavesModel(std::function<void()> save) : save_(std::move(save)) {}
  void run_started(const train::RunStarted&) override { save_(); }

 private:
  std::function<void()> save_;
};

train::TrainerOptions options_of(const ModelTraining& options, const models::RunSettings& run,
                                 const models::SettingList& model, std::vector<train::Observer*> observers) {
  train::TrainerOptions result = run.trainer_options();
  result.folder = options.out;
  result.start = options.resume ? train::Start::kResume : train::Start::kBegin;
  if (options.restart) result.start = train::Start::kReplace;
  result.handle_signals = true;
  result.how_to_resume = options.how_to_resume;
  result.facts.emplace_back("model", options.model);
  for (const models::Setting& setting : model.all()) {
    const Value value = setting.value();
    result.facts.emplace_back(setting.name, value.is_string() ? std::string(value.as_string()) : value.to_text());
  }
  result.observers = std::move(observers);
  return result;
}

void train_model(ModelTraining options) {
  if (options.threads > 0) set_thread_count(options.threads);
  if (options.out.empty()) options.out = options.model + ".run";
  const std::unique_ptr<models::StandardModel> model = models::make(options.model);
  models::RunSettings run;
  const models::SettingList of_model = model->settings();
  const models::SettingList of_run = models::settings_of(run);
  if (!options.config.empty()) read_config(options, of_model, of_run);
  for (const auto& [name, text] : options.given) setting_at(of_model, of_run, name).assign_text(text);

  const data::ReadReport report = model->read_data(places_of(options), {.skip_damaged = options.skip_damaged});
  if (report.damaged > 0) fmt::print(stderr, "{}\n", report.summary());
  ensure_writable_folder(options.out);
  model->build(static_cast<std::uint64_t>(run.seed));
  if (model->size(train::Split::kHeldOut) == 0 && !options.given.contains("patience")) run.patience = 0;
  fmt::print("{} training, {} held-out and {} test records\n{}{} parameters, {} thread{}\n",
             model->size(train::Split::kTrain), model->size(train::Split::kHeldOut), model->size(train::Split::kTest),
             model->describe(), model->weights().count(), thread_count(), thread_count() == 1 ? "" : "s");
  std::fflush(stdout);

  train::ProgressBars bars;
  SavesModel saves([&] {
    model->save(options.out);
    write_config(options, of_model, of_run);
  });
  train::CsvLog csv(fs::path(options.out) / "log.csv");
  train::TensorBoardLog events(options.out);
  train::ReportObserver report_page({.path = fs::path(options.out) / "report.html",
                                     .title = options.model,
                                     .footer = std::string("espalier ") + ESPALIER_VERSION});
  std::vector<train::Observer*> observers{&saves, &bars, &csv, &events, &report_page};
  std::optional<train::TraceObserver> trace;
  if (!options.trace.empty()) observers.push_back(&trace.emplace(options.trace));
  train::Trainer trainer(model->weights(), *model, options_of(options, run, of_model, std::move(observers)));
  const train::RunResult result = trainer.run();
  if (result.ending == train::Ending::kInterrupted) throw Interrupted(result.message);
  model->weights().save(fs::path(options.out) / "weights.safetensors");
  for (const train::Split split : {train::Split::kHeldOut, train::Split::kTest})
    if (model->size(split) > 0) print_metrics(split, train::evaluate(*model, split));
  if (trace) print_trace(options.trace, *trace);
  fmt::print("model: {0}\npredict with: espalier predict {0} FILE\n", options.out);
}

/// "--word-dropout" for the setting "word_dropout".
std::string flag_of(const std::string& setting) {
  std::string flag = "--" + setting;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void add_settings(CLI::App& command, const models::SettingList& list, const std::string& group,
                  const std::shared_ptr<ModelTraining>& options) {
  for (const models::Setting& setting : list.all()) {
    std::string help = setting.help;
    if (!setting.choices.empty()) help += fmt::format(" ({})", fmt::join(setting.choices, ", "));
    const Value value = setting.value();
    const std::string text = value.is_string() ? std::string(value.as_string()) : value.to_text();
    if (!text.empty()) help += fmt::format(" [{}]", text);
    command
        .add_option_function<std::string>(
            flag_of(setting.name),
            [options, name = setting.name](const std::string& given) { options->given[name] = given; }, help)
        ->group(group);
  }
}

void add_model(CLI::App& train, const std::string& name) {
  auto options = std::make_shared<ModelTraining>();
  options->model = name;
  CLI::App* command = train.add_subcommand(name, std::string(models::summary_of(name)));
  command->add_option("--data", options->data,
                      "Training data: a file, or a folder of files whose names say which part of the data they are");
  command->add_option("--held-out-data", options->held_out_data, "Data for choosing the best weights");
  command->add_option("--test-data", options->test_data, "Data for the final metrics");
  command->add_option("--out", options->out, fmt::format("Folder of the run [{}.run]", name));
  command->add_option(
      "--config", options->config,
      fmt::format("Settings from a file, such as the {} that each run writes; options override it", kRunFile));
  command->add_option("--threads", options->threads, "Threads to use (default: ESPALIER_THREADS, or all cores)")
      ->check(whole_number(1, 1024));
  add_trace(*command, options->trace);
  command->add_flag("--skip-damaged", options->skip_damaged, "Skip damaged records, and say how many");
  command->footer(fmt::format("Example: espalier train {} {}\ndocs/models.md describes the formats of the data.", name,
                              models::example_of(name)));
  CLI::Option* resume = command->add_flag("--resume", options->resume, "Resume the run that was interrupted");
  command->add_flag("--restart", options->restart, "Start from the beginning, although a run was interrupted")
      ->excludes(resume);
  const std::unique_ptr<models::StandardModel> model = models::make(name);
  models::RunSettings run;
  add_settings(*command, model->settings(), "Model", options);
  add_settings(*command, models::settings_of(run), "Training", options);
  command->callback([options, command] {
    options->how_to_resume = command_line_of(*command, "--restart") + (options->resume ? "" : " --resume");
    train_model(*options);
  });
}

}  // namespace

void add_train_models(CLI::App& train) {
  for (const std::string_view name : models::names()) add_model(train, std::string(name));
}

}  // namespace espalier::cli
