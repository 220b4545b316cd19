/// What the commands on runs of standard models share.
#pragma once

#include <memory>
#include <string>

#include "espalier/models/standard_model.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/task.h"

namespace espalier::cli {

/// The model of the folder of a run, or of an ONNX file that `espalier export` wrote.
std::unique_ptr<models::StandardModel> load_model(const std::string& path);

/// "test: f1 0.9312, precision ..., loss ... (477 records)", on standard output.
void print_metrics(train::Split split, const train::Evaluation& evaluation);

/// Evaluates the model of a run's folder on data; see `espalier eval --help`.
struct EvalOfRun {
  std::string run;
  std::string data;
  std::string summary;
  bool skip_damaged = false;
};
void eval_run(const EvalOfRun& options);

}  // namespace espalier::cli
