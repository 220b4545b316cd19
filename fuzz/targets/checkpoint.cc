/// Checkpoints: a line of header and the data after it, loaded into a small model.
#include "espalier/train/checkpoint.h"

#include "espalier/nn/linear.h"
#include "espalier/optim/adam.h"
#include "fuzz/input.h"

namespace espalier::fuzz {
namespace {

/// What a run with averages has.
struct SmallRun {
  Model model{1};
  nn::Linear layer{model / "layer", 2, 1};
  optim::Adam adam{model};
  train::WeightAverage average{model, 0.9};
};

}  // namespace

void checkpoint(std::string_view input) {
  const MemoryFile file(safetensors_of(input));
  accepts([&] {
    const train::CheckpointReader reader(file.path());
    SmallRun run;
    reader.parameter_differences(run.model);
    reader.load(run.model, run.adam, run.average);
    const std::filesystem::path copy = temporary_folder() / "copy.checkpoint";
    train::write_checkpoint(copy, reader.state(), reader.settings(), run.model, run.adam, run.average);
    const train::CheckpointReader again(copy);
    check(again.state().to_text() == reader.state().to_text(), "a state that was written reads back the same");
    check(again.settings() == reader.settings(), "settings that were written read back the same");
    check(again.parameter_differences(run.model).empty(), "the parameters are those of the model");
    again.load(run.model, run.adam, run.average);
  });
}

}  // namespace espalier::fuzz
