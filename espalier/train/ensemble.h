/// Ensemble: the same network trained from several seeds, whose outputs are averaged.
///
///   train::Ensemble ensemble;
///   for (std::uint64_t seed = 1; seed <= 3; ++seed) ensemble.add(nets[seed].model, tasks[seed]);
///   ensemble.train({.folder = "run", .epochs = 20, .seed = 1});
///   const train::Evaluation together = ensemble.evaluate(train::Split::kTest);
///
/// Each member is a Model of its own, made with a seed of its own, and a Task over the same data.
///
/// Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "espalier/base/export.h"
#include "espalier/nn/model.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/task.h"
#include "espalier/train/trainer.h"

namespace espalier::train {

class ESPALIER_EXPORT Ensemble {
 public:
  /// Both must outlive the ensemble. Refuses (UsageError) a task with another number of held-out or test instances than
  /// the first one's.
  void add(Model& model, const Task& task);

  /// Trains the members one after the other, with the seeds options.seed, options.seed + 1, ..., in the folders
  /// "seed-N" of options.folder. Ends early if a run is interrupted: the results are those of the runs so far, and a
  /// second call goes on.
  std::vector<RunResult> train(const TrainerOptions& options);

  /// Evaluates by the mean of the members' outputs, as the first member's task reads them; the loss is the mean of
  /// theirs. Refuses (UsageError) members whose outputs have other shapes, and an ensemble without members.
  Evaluation evaluate(Split split) const;

 private:
  struct Member {
    Model* model;
    const Task* task;
  };
  std::vector<Member> members_;
};

}  // namespace espalier::train
