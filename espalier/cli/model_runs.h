/// What the commands on runs of standard models share.
#pragma once

#include "espalier/train/evaluate.h"
#include "espalier/train/task.h"

namespace espalier::cli {

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
