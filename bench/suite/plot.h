/// Records as a plot: instances per second against batch size, a panel for each workload, size and mode.
#pragma once

#include <filesystem>
#include <string>

#include "bench/suite/record.h"

namespace espalier::bench {

/// A complete SVG document. A line per variant, solid for the fewest threads, dashed for more. Shows the records that
/// compute each leaf for itself, if they were measured.
std::string plot_svg(const Records& records);

/// Writes the plot, or, if the name ends with ".html", a page with the plot, the verdicts and all figures.
void write_plot(const std::filesystem::path& path, const Records& records);

}  // namespace espalier::bench
