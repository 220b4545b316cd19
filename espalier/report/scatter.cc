#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "espalier/report/chart.h"
#include "espalier/report/chart_frame.h"
#include "espalier/report/html.h"
#include "espalier/report/numbers.h"

namespace espalier::report {
namespace {

constexpr std::size_t kMostPoints = 1500;
constexpr std::size_t kMostOutliers = 20;
constexpr double kLogFrom = 1000;  // largest / smallest

/// How far a point is from the diagonal, as the picture shows it.
double distance(const ScatterPoint& point, Scale scale) {
  if (scale == Scale::kLinear) return std::abs(point.predicted - point.expected);
  return std::abs(std::log(point.predicted) - std::log(point.expected));
}

/// Those that are drawn, the farthest from the diagonal last and so on top.
std::vector<const ScatterPoint*> chosen(const std::vector<ScatterPoint>& points, Scale scale) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return distance(points[a], scale) < distance(points[b], scale);
  });
  const std::size_t outliers = std::min(kMostOutliers, order.size());
  const std::size_t others = order.size() - outliers;
  const std::size_t drawn = std::min(others, kMostPoints - outliers);
  std::vector<const ScatterPoint*> result;
  for (std::size_t i = 0; i < drawn; ++i) result.push_back(&points[order[i * others / drawn]]);
  for (std::size_t i = others; i < order.size(); ++i) result.push_back(&points[order[i]]);
  return result;
}

}  // namespace

std::string scatter_html(const Scatter& scatter) {
  std::vector<ScatterPoint> points = scatter.points;
  std::erase_if(points, [](const ScatterPoint& point) {
    return !std::isfinite(point.expected) || !std::isfinite(point.predicted);
  });
  if (points.empty()) return "";
  Range both;
  for (const ScatterPoint& point : points) {
    both.take(point.expected);
    both.take(point.predicted);
  }
  const Scale scale = both.low > 0 && both.high > kLogFrom * both.low ? Scale::kLog : Scale::kLinear;
  both = both.widened(scale, 0.03);
  const Axis x(scale, both.low, both.high, kChartLeft, kChartRight);
  const Axis y(scale, both.low, both.high, kChartBottom, kChartTop);

  const std::vector<const ScatterPoint*> drawn = chosen(points, scale);
  Svg svg = begin_chart(fmt::format("{}: predicted against expected, {} points. The table below has the errors.",
                                    scatter.title, drawn.size()),
                        false);
  draw_axes(svg, x, y, "expected", "predicted");
  svg.line({x.place(both.low), y.place(both.low)}, {x.place(both.high), y.place(both.high)}, "class=\"marked\"");
  for (const ScatterPoint* point : drawn) {
    svg.begin_group("class=\"dot\"");
    svg.hint(fmt::format("{}: expected {}, predicted {}", clipped(point->name, 80).text, figure(point->expected),
                         figure(point->predicted)));
    svg.circle({x.place(point->expected), y.place(point->predicted)}, 2.6, "class=\"c0\"");
    svg.end_group();
  }
  std::string note;
  if (drawn.size() < points.size())
    note = fmt::format("<p class=\"note\">{} of {} points, evenly chosen, and the {} farthest from the diagonal.</p>\n",
                       whole_number(static_cast<std::int64_t>(drawn.size())),
                       whole_number(static_cast<std::int64_t>(points.size())), kMostOutliers);
  return fmt::format("<figure>\n<figcaption>{}{}</figcaption>\n{}{}</figure>\n", isolated(scatter.title),
                     scale == Scale::kLog ? " (logarithmic axes)" : "", svg.finish(), note);
}

}  // namespace espalier::report
