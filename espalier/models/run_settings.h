/// RunSettings: how a standard model is trained, under the names of the command's flags.
#pragma once

#include <cstdint>
#include <string>

#include "espalier/base/export.h"
#include "espalier/models/settings.h"
#include "espalier/train/trainer.h"

namespace espalier::models {

struct ESPALIER_EXPORT RunSettings {
  std::int32_t seed = 1;
  std::int32_t epochs = 20;
  std::int32_t batch = 32;
  std::int32_t batch_nodes = 0;
  std::int32_t accumulate = 1;
  std::string optimizer = "adam(learning_rate=0.001, clip_norm=5)";
  std::string schedule = "constant";
  std::int32_t warmup = 0;
  double average_decay = 0;
  std::string metric;
  std::int32_t patience = 5;
  std::int32_t checkpoint_every = 0;

  void list(SettingList& list);
  train::TrainerOptions trainer_options() const;
};

}  // namespace espalier::models
