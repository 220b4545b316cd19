/// `espalier export`: a trained model as an ONNX file, and models read from such files.
#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/model_runs.h"
#include "espalier/cli/numbers.h"
#include "espalier/data/json.h"
#include "espalier/models/standard_model.h"
#include "espalier/onnx/onnx.h"
#include "espalier/onnx/read_file.h"

namespace espalier::cli {
namespace {

struct ExportCommand {
  std::string run;
  std::string out;
  std::vector<std::string> samples;
  std::int64_t records = 1'000;
};

constexpr std::string_view kModelEntry = "espalier.model";
constexpr std::string_view kVersionEntry = "espalier.version";
/// Before the names of weights in a file.
constexpr std::string_view kWeightPrefix = "weight.";

bool is_json(const std::string& file) { return file == "-" || file.find(".json") != std::string::npos; }

/// The outputs of the model's own samples and of those that are named.
std::vector<onnx::Instance> record_samples(const ExportCommand& command, const models::StandardModel& model,
                                           Graph& graph) {
  std::vector<onnx::Instance> instances;
  const auto add = [&](data::Input input, bool json_lines) {
    for (const Expr& output :
         model.record_outputs(graph, std::move(input), {.json_lines = json_lines}, command.records))
      instances.push_back({output});
  };
  std::string lines;
  for (const Value& record : model.samples()) lines += record.to_text() + "\n";
  if (!lines.empty()) add(data::Input::text(lines, "sample"), true);
  for (const std::string& file : command.samples) add(data::Input(file), is_json(file));
  if (instances.empty())
    throw UsageError(
        fmt::format("export: the model \"{}\" has no samples of its own; name records with --samples", model.name()));
  return instances;
}

void export_model(const ExportCommand& command) {
  ensure_writable_file(command.out);
  const std::unique_ptr<models::StandardModel> model = load_model(command.run);
  if (!model->why_not_exported().empty())
    throw UsageError(
        fmt::format("export: the model \"{}\" has no static graph: {}", model->name(), model->why_not_exported()));
  Graph graph({.training = false});
  const std::vector<onnx::Instance> samples = record_samples(command, *model, graph);
  onnx::WriteOptions options;
  options.metadata = {{std::string(kModelEntry), model->description().to_text()},
                      {std::string(kVersionEntry), ESPALIER_VERSION}};
  for (const Parameter* parameter : model->weights().parameters()) options.also.push_back(parameter);
  onnx::write(command.out, {"scores"}, samples, options);
  const onnx::Weaver weaver(command.out);
  fmt::print("{}: {} weights; signatures:\n", command.out, model->weights().count());
  for (const std::string& signature : weaver.signatures()) fmt::print("  {}\n", signature);
}

std::unique_ptr<models::StandardModel> read_exported(const std::string& path) {
  const onnx::FileContents contents = onnx::read(path);
  const auto description = contents.metadata.find(std::string(kModelEntry));
  if (description == contents.metadata.end())
    throw DataError(fmt::format("{}: it has no model's description: `espalier export` did not write it", path));
  std::unique_ptr<models::StandardModel> model =
      models::restore(data::parse_json(description->second, path + ": its model"), path);
  for (Parameter* parameter : model->weights().parameters()) {
    const auto weight = contents.weights.find(std::string(kWeightPrefix) + parameter->name());
    if (weight == contents.weights.end() || weight->second.shape() != parameter->shape())
      throw DataError(fmt::format("{}: expected weights \"{}\" of shape {}, not {}", path, parameter->name(),
                                  parameter->shape().to_string(),
                                  weight == contents.weights.end() ? "none" : weight->second.shape().to_string()));
    parameter->replace_value(weight->second);
  }
  return model;
}

}  // namespace

std::unique_ptr<models::StandardModel> load_model(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) ? read_exported(path) : models::load(path);
}

void add_export(CLI::App& app) {
  auto command = std::make_shared<ExportCommand>();
  CLI::App* exporting = app.add_subcommand(
      "export", "Write a trained model as an ONNX file, which ONNX Runtime evaluates on records of any shape");
  exporting->add_option("RUN", command->run, "The folder of a run of `espalier train MODEL`")->required();
  exporting->add_option("-o,--out", command->out, "The file to write, such as model.onnx")->required();
  exporting->add_option("--samples", command->samples,
                        "Files of more records whose signatures the file must have, beside the model's own samples");
  exporting->add_option("--records", command->records, "Number of records to read from each file of samples")
      ->capture_default_str()
      ->check(whole_number(1, 1'000'000));
  exporting->footer(
      "The file has one operation for each signature of the samples. Its inputs are a schedule, which\n"
      "docs/static_graphs.md describes, and examples/onnx_weaver.py makes. `espalier predict` reads it too.\n"
      "Example:\n"
      "  espalier export sentiment.run -o model.onnx");
  exporting->callback([command] { export_model(*command); });
}

}  // namespace espalier::cli
