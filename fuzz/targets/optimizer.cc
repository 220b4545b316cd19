/// Optimizers and schedules in the form of flags.
#include <cmath>

#include "espalier/nn/linear.h"
#include "espalier/optim/parse.h"
#include "espalier/optim/schedule.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

void optimizer(std::string_view input) {
  static Model model(1);
  static const nn::Linear layer(model / "layer", 2, 1);
  check_round_trip(
      input, [](std::string_view text) { return optim::parse(model, text)->to_string(); },
      [](const std::string& text) { return text; });
  accepts([&] {
    const optim::Schedule schedule = optim::parse_schedule(input, 100);
    for (const std::int64_t step : {0, 1, 50, 99, 100, 1'000'000}) {
      const double factor = schedule(step);
      check(std::isfinite(factor) && factor >= 0, "a schedule gives factors that are finite and not negative");
    }
  });
}

}  // namespace espalier::fuzz
