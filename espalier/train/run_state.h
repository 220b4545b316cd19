/// RunState: where a training run is. With weights, optimizer and averages, all that resuming needs. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/train/observer.h"

namespace espalier::train {

/// Sums over training instances.
struct TrainingScore {
  double loss = 0;
  std::int64_t instances = 0;
  std::int64_t right = 0;  // answers
  std::int64_t asked = 0;  // questions whose answer is known

  void add(const TrainingScore& other) {
    loss += other.loss;
    instances += other.instances;
    right += other.right;
    asked += other.asked;
  }
  double mean_loss() const { return instances == 0 ? 0 : loss / static_cast<double>(instances); }
  std::optional<double> accuracy() const {
    if (asked == 0) return {};
    return static_cast<double>(right) / static_cast<double>(asked);
  }
};

struct RunState {
  std::int32_t epoch = 0;        // epochs done
  std::int64_t minibatch = 0;    // minibatches done of the epoch under way
  std::int64_t minibatches = 0;  // done in the run: the number of the next one chooses its masks of dropout
  std::int64_t updates = 0;
  TrainingScore score;  // of the epoch under way
  std::int32_t best_epoch = 0;
  double best_value = 0;
  std::int32_t evaluations_since_best = 0;
  std::optional<Ending> ended;
  std::vector<EpochSummary> history;

  /// As JSON, with every number to the bit.
  std::string to_text() const;
  /// The reverse. Refuses (DataError) other text; `where` begins the message.
  static RunState from_text(std::string_view text, std::string_view where);
};

std::string settings_text(const Settings& settings);
Settings settings_from_text(std::string_view text, std::string_view where);

/// A sentence for each setting that differs.
std::vector<std::string> settings_differences(const Settings& before, const Settings& now);

}  // namespace espalier::train
