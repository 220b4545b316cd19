/// Checkpoints: everything that a training run needs to go on with the same bits, in one file. Internal.
///
/// The file is a safetensors file, written whole or not at all: tensors "weights/NAME", "average/NAME" and
/// "optimizer/NAME" (Optimizer::state()); metadata "run" (RunState), "settings" and "threads".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "espalier/nn/model.h"
#include "espalier/nn/safetensors.h"
#include "espalier/optim/optimizer.h"
#include "espalier/train/run_state.h"
#include "espalier/train/weight_average.h"

namespace espalier::train {

/// Refuses (ResourceError) a file that cannot be written, which stays as it was.
void write_checkpoint(const std::filesystem::path& path, const RunState& state, const Settings& settings,
                      const Model& model, const optim::Optimizer& optimizer, const WeightAverage& average);

class CheckpointReader {
 public:
  /// Refuses (DataError) a file that is no checkpoint.
  explicit CheckpointReader(const std::filesystem::path& path);

  const RunState& state() const { return state_; }
  const Settings& settings() const { return settings_; }
  /// Of the process that wrote it.
  int threads() const { return threads_; }

  /// A sentence for each parameter that is not what the model has.
  std::vector<std::string> parameter_differences(const Model& model) const;
  /// Refuses (DataError) a file that lacks something, or has another shape for it; nothing has changed then. The
  /// learning rate of the optimizer stays.
  void load(Model& model, optim::Optimizer& optimizer, WeightAverage& average) const;

 private:
  NamedTensors under(const std::string& prefix) const;

  std::string path_;
  SafetensorsReader file_;
  RunState state_;
  Settings settings_;
  int threads_ = 0;
};

}  // namespace espalier::train
