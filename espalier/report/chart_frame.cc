#include "espalier/report/chart_frame.h"

#include <fmt/format.h>

#include <cmath>

#include "espalier/report/html.h"

namespace espalier::report {

Range Range::widened(Scale scale, double share) const {
  Range wide = *this;
  if (scale == Scale::kLog) {
    const double factor = high > low ? std::pow(high / low, share) : 2;
    wide.low /= factor;
    wide.high *= factor;
    return wide;
  }
  constexpr double kOfOne = 0.5;  // a range of one number gets as much again around it
  const double size = std::abs(low) > 0 ? std::abs(low) * kOfOne : 1;
  const double margin = high > low ? (high - low) * share : size;
  wide.low -= margin;
  wide.high += margin;
  return wide;
}

Svg begin_chart(std::string_view name, bool has_readouts) {
  return Svg::within_page(
      kChartWidth, kChartHeight,
      fmt::format("class=\"chart{}\" role=\"img\" aria-label=\"{}\"{}", has_readouts ? " readable" : "", escaped(name),
                  has_readouts ? " tabindex=\"0\"" : ""));
}

void draw_axes(Svg& svg, const Axis& x, const Axis& y, std::string_view x_name, std::string_view y_name) {
  svg.begin_group("aria-hidden=\"true\"");
  for (const double tick : y.ticks()) {
    svg.line({kChartLeft, y.place(tick)}, {kChartRight, y.place(tick)}, "class=\"grid\"");
    svg.text({kChartLeft - 6, y.place(tick) + 4}, tick_text(tick), "class=\"tick\" text-anchor=\"end\"");
  }
  for (const double tick : x.ticks(8)) {
    svg.line({x.place(tick), kChartBottom}, {x.place(tick), kChartBottom + 4}, "class=\"rim\"");
    svg.text({x.place(tick), kChartBottom + 17}, tick_text(tick), "class=\"tick\" text-anchor=\"middle\"");
  }
  svg.line({kChartLeft, kChartBottom}, {kChartRight, kChartBottom}, "class=\"rim\"");
  svg.text({(kChartLeft + kChartRight) / 2, kChartHeight - 8}, x_name, "class=\"tick\" text-anchor=\"middle\"");
  if (!y_name.empty()) svg.upright_text({12, (kChartTop + kChartBottom) / 2}, y_name, "class=\"tick\"");
  svg.end_group();
}

}  // namespace espalier::report
