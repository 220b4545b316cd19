#include "espalier/train/trainer.h"

#include <utility>

#include "espalier/train/training_run.h"

namespace espalier::train {

struct Trainer::State {
  State(Model& model, const Task& of, TrainerOptions options) : task(of), run(model, of, std::move(options)) {}

  const Task& task;
  TrainingRun run;
};

Trainer::Trainer(Model& model, const Task& task, TrainerOptions options)
    : state_(std::make_unique<State>(model, task, std::move(options))) {}
Trainer::~Trainer() = default;

RunResult Trainer::run() { return state_->run.run(); }
void Trainer::request_stop() noexcept { state_->run.request_stop(); }
Evaluation Trainer::evaluate(Split split) const { return train::evaluate(state_->task, split); }
Statistics Trainer::statistics() const { return state_->run.statistics(); }
const Settings& Trainer::settings() const { return state_->run.settings(); }

}  // namespace espalier::train
