/// The colours of steps.
#pragma once

#include <cstdint>
#include <string>

namespace espalier::show {

/// As in "#3a7bd5": from blue over green and yellow to red in the order of the steps. Neighbours differ in lightness
/// too; all of them have enough contrast to black text, and to light and dark backgrounds.
std::string colour_of_step(std::int64_t step, std::int64_t steps);

}  // namespace espalier::show
