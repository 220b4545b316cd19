#include "espalier/models/run_settings.h"

namespace espalier::models {

void RunSettings::list(SettingList& list) {
  list.add("seed", seed, "chooses initial weights, the order of the data and dropout", 0);
  list.add("epochs", epochs, "passes over the training data", 1);
  list.add("batch", batch, "instances in a minibatch", 1);
  list.add("batch_nodes", batch_nodes, "if above 0: as many instances as have so many nodes together", 0);
  list.add("accumulate", accumulate, "minibatches per update", 1);
  list.add("optimizer", optimizer, "rule and its options");
  list.add("schedule", schedule, "of the learning rate: constant, cosine, ...");
  list.add("warmup", warmup, "updates in which the learning rate rises; at most a tenth of all", 0);
  list.add("average_decay", average_decay, "if above 0: evaluate and keep averages of the weights", 0, 0.999999);
  list.add("metric", metric, "the figure that chooses the best weights (default: the model's first)");
  list.add("patience", patience, "ends after so many evaluations without improvement; 0: never", 0);
  list.add("checkpoint_every", checkpoint_every, "updates between checkpoints within an epoch; 0: only after epochs",
           0);
}

train::TrainerOptions RunSettings::trainer_options() const {
  train::TrainerOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.epochs = epochs;
  options.batch = batch;
  options.batch_nodes = batch_nodes;
  options.accumulate = accumulate;
  options.optimizer = optimizer;
  options.schedule = schedule;
  options.warmup = warmup;
  options.average_decay = average_decay;
  options.metric = metric;
  options.patience = patience;
  options.checkpoint_every = checkpoint_every;
  return options;
}

}  // namespace espalier::models
