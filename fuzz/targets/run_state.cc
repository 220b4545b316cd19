/// The texts in a checkpoint: where a run is, and its settings.
#include "espalier/train/run_state.h"

#include "fuzz/input.h"

namespace espalier::fuzz {

void run_state(std::string_view input) {
  using train::RunState;
  check_round_trip(
      input, [](std::string_view text) { return RunState::from_text(text, "input"); },
      [](const RunState& state) { return state.to_text(); });
  check_round_trip(
      input, [](std::string_view text) { return train::settings_from_text(text, "input"); }, train::settings_text);
}

}  // namespace espalier::fuzz
