/// The frame of a chart: its size, axes, grid and names. Internal.
#pragma once

#include <string>
#include <string_view>

#include "espalier/report/axis.h"
#include "espalier/report/svg.h"

namespace espalier::report {

// In units of the picture, which a page stretches to the width it has.
inline constexpr double kChartWidth = 460;
inline constexpr double kChartHeight = 280;
inline constexpr double kChartLeft = 50;
inline constexpr double kChartRight = kChartWidth - 14;
inline constexpr double kChartTop = 14;
inline constexpr double kChartBottom = kChartHeight - 42;

struct Range {
  double low = 0;
  double high = 0;
  bool is_empty = true;

  void take(double value) {
    low = is_empty || value < low ? value : low;
    high = is_empty || value > high ? value : high;
    is_empty = false;
  }
  /// The same with a margin at both ends; some width also if it has none.
  Range widened(Scale scale, double share) const;
};

/// A picture with a name for screen readers. Arrow keys move over its groups of class "at", if it has some.
Svg begin_chart(std::string_view name, bool has_readouts);
/// The grid, the numbers along both axes, and their names.
void draw_axes(Svg& svg, const Axis& x, const Axis& y, std::string_view x_name, std::string_view y_name);

}  // namespace espalier::report
