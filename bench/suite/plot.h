/// Records as a picture: instances a second against the size of a minibatch, a panel for each workload, size and mode.
#pragma once

#include <filesystem>
#include <string>

#include "bench/suite/record.h"

namespace espalier::bench {

/// A whole SVG document. Lines are variants (solid for the fewest threads, dashed for more), with equal leaves computed
/// each for itself where that was measured.
std::string plot_svg(const Records& records);

/// Writes the picture, or for a name that ends with ".html" a page with the picture, the verdicts and all figures.
void write_plot(const std::filesystem::path& path, const Records& records);

}  // namespace espalier::bench
