#include "espalier/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "espalier/report/chart_frame.h"
#include "espalier/report/html.h"
#include "espalier/report/numbers.h"

namespace espalier::report {
namespace {

constexpr std::size_t kMostDrawn = 400;
constexpr std::size_t kMostRows = 200;
constexpr std::size_t kMostMarks = 40;  // with more points, marks hide the line
constexpr std::array kMarks{Mark::kCircle, Mark::kSquare, Mark::kTriangle, Mark::kDiamond};

/// Without points that are not finite.
LineChart finite(LineChart chart) {
  for (Series& series : chart.series)
    std::erase_if(series.points, [](Point point) { return !std::isfinite(point.x) || !std::isfinite(point.y); });
  std::erase_if(chart.series, [](const Series& series) { return series.points.empty(); });
  return chart;
}

/// At most kMostDrawn points: means of neighbours.
std::vector<Point> thinned(const std::vector<Point>& points) {
  if (points.size() <= kMostDrawn) return points;
  std::vector<Point> means;
  for (std::size_t i = 0; i < kMostDrawn; ++i) {
    const std::size_t begin = i * points.size() / kMostDrawn;
    const std::size_t end = (i + 1) * points.size() / kMostDrawn;
    Point sum;
    for (std::size_t j = begin; j < end; ++j) {
      sum.x += points[j].x;
      sum.y += points[j].y;
    }
    const auto count = static_cast<double>(end - begin);
    means.push_back({sum.x / count, sum.y / count});
  }
  return means;
}

/// The x that the table lists and the arrow keys visit.
struct Rows {
  std::vector<double> xs;
  std::size_t all = 0;
  std::vector<const Series*> series;
};

Rows rows_of(const LineChart& chart) {
  Rows rows;
  const bool all_faint =
      std::all_of(chart.series.begin(), chart.series.end(), [](const Series& series) { return series.is_faint; });
  std::vector<double> xs;
  for (const Series& series : chart.series) {
    if (series.is_faint && !all_faint) continue;
    rows.series.push_back(&series);
    for (const Point& point : series.points) xs.push_back(point.x);
  }
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  rows.all = xs.size();
  const std::size_t shown = std::min(xs.size(), kMostRows);
  // The first and the last are always among them.
  for (std::size_t i = 0; i < shown; ++i) rows.xs.push_back(xs[shown < 2 ? 0 : i * (xs.size() - 1) / (shown - 1)]);
  return rows;
}

const Point* point_at(const Series& series, double x) {
  const auto found = std::lower_bound(series.points.begin(), series.points.end(), x,
                                      [](const Point& point, double wanted) { return point.x < wanted; });
  return found != series.points.end() && found->x == x ? &*found : nullptr;
}

bool has_marks(const Series& series) { return !series.is_faint && series.points.size() <= kMostMarks; }

void draw_series(Svg& svg, const Series& series, const Axis& x, const Axis& y) {
  std::vector<Point> places;
  for (const Point& point : thinned(series.points)) places.push_back({x.place(point.x), y.place(point.y)});
  if (places.size() > 1)
    svg.polyline(places,
                 fmt::format("class=\"line c{}{}\"", series.colour % kMarks.size(), series.is_faint ? " faint" : ""));
  if (!has_marks(series)) return;
  for (const Point& place : places)
    svg.mark(kMarks[series.colour % kMarks.size()], place,
             fmt::format("class=\"mark c{}\"", series.colour % kMarks.size()));
}

/// The values at one x, shown while the pointer is over the strip around it.
void draw_readout(Svg& svg, const LineChart& chart, const Rows& rows, std::size_t i, const Axis& x) {
  constexpr double kLine = 15;
  constexpr double kLetter = 6.3;  // about the width of one
  constexpr double kPadding = 8;
  const double at = x.place(rows.xs[i]);
  const double from = i == 0 ? kChartLeft : (x.place(rows.xs[i - 1]) + at) / 2;
  const double to = i + 1 == rows.xs.size() ? kChartRight : (at + x.place(rows.xs[i + 1])) / 2;
  std::vector<std::pair<std::string, std::string>> lines;  // and their classes
  lines.emplace_back(fmt::format("{} {}", chart.x_name, figure(rows.xs[i])), "class=\"readout-title\"");
  for (const Series* series : rows.series)
    if (const Point* point = point_at(*series, rows.xs[i]); point != nullptr)
      lines.emplace_back(fmt::format("{} {}", clipped(series->name, 24).text, figure(point->y)),
                         fmt::format("class=\"readout-text\""));
  std::size_t longest = 0;
  for (const auto& [text, style] : lines) longest = std::max(longest, text.size());
  const double width = kLetter * static_cast<double>(longest) + 2 * kPadding;
  const double height = kLine * static_cast<double>(lines.size()) + kPadding;
  const bool is_left = at > (kChartLeft + kChartRight) / 2;
  const double left = std::max(is_left ? at - width - 10 : at + 10, 0.0);

  svg.begin_group("class=\"at\"");
  svg.rectangle({from, kChartTop}, to - from, kChartBottom - kChartTop, "class=\"hit\"");
  svg.begin_group("class=\"readout\"");
  svg.line({at, kChartTop}, {at, kChartBottom}, "class=\"rule\"");
  svg.rectangle({left, kChartTop}, width, height, "class=\"paper\" rx=\"4\"");
  for (std::size_t line = 0; line < lines.size(); ++line)
    svg.text({left + kPadding, kChartTop + kLine * static_cast<double>(line + 1)}, lines[line].first,
             lines[line].second);
  svg.end_group();
  svg.end_group();
}

std::string picture(const LineChart& chart, const Rows& rows) {
  Range of_x;
  Range of_y;
  for (const Series& series : chart.series)
    for (const Point& point : series.points) of_x.take(point.x);
  for (const Series& series : chart.series)
    for (const Point& point : thinned(series.points)) of_y.take(point.y);
  if (of_x.low == of_x.high) of_x = of_x.widened(Scale::kLinear, 0);
  // Small differences should not look large; a figure that is 0 or more should not have an axis below it.
  const double bottom = of_y.low;
  of_y = of_y.widened(Scale::kLinear, 0.06);
  if (bottom >= 0) of_y.low = std::max(of_y.low, 0.0);
  const Axis x(Scale::kLinear, of_x.low, of_x.high, kChartLeft + 6, kChartRight - 6);
  const Axis y(Scale::kLinear, of_y.low, of_y.high, kChartBottom, kChartTop);

  Svg svg = begin_chart(fmt::format("{}: {} by {}. The table below has the numbers; arrow keys read them here.",
                                    chart.title, chart.y_name, chart.x_name),
                        true);
  draw_axes(svg, x, y, chart.x_name, "");
  if (chart.marked_x && *chart.marked_x >= of_x.low && *chart.marked_x <= of_x.high) {
    const double at = x.place(*chart.marked_x);
    const bool is_left = at > (kChartLeft + kChartRight) / 2;
    svg.line({at, kChartTop}, {at, kChartBottom}, "class=\"marked\"");
    svg.text({at + (is_left ? -5.0 : 5.0), kChartBottom - 6}, chart.mark_name,
             fmt::format("class=\"tick\" text-anchor=\"{}\"", is_left ? "end" : "start"));
  }
  for (const bool faint : {true, false})
    for (const Series& series : chart.series)
      if (series.is_faint == faint) draw_series(svg, series, x, y);
  for (std::size_t i = 0; i < rows.xs.size(); ++i) draw_readout(svg, chart, rows, i, x);
  return svg.finish();
}

std::string legend(const LineChart& chart) {
  std::string html = "<p class=\"legend\">";
  for (const Series& series : chart.series) {
    Svg svg = Svg::within_page(26, 12, "class=\"key\" aria-hidden=\"true\"");
    svg.line({1, 6}, {25, 6},
             fmt::format("class=\"line c{}{}\"", series.colour % kMarks.size(), series.is_faint ? " faint" : ""));
    if (has_marks(series))
      svg.mark(kMarks[series.colour % kMarks.size()], {13, 6},
               fmt::format("class=\"mark c{}\"", series.colour % kMarks.size()));
    html += fmt::format("<span>{}{}</span> ", svg.finish(), isolated(series.name));
  }
  return html + "</p>\n";
}

std::string table(const LineChart& chart, const Rows& rows) {
  std::string html = fmt::format(
      "<details><summary>Table: {}</summary>\n<div class=\"wide\"><table><caption>{}{}"
      "</caption>\n<thead><tr><th scope=\"col\">{}</th>",
      isolated(chart.title), isolated(chart.title),
      rows.all > rows.xs.size() ? fmt::format(", {} of {} rows, evenly chosen", rows.xs.size(), rows.all) : "",
      isolated(chart.x_name));
  for (const Series* series : rows.series) html += fmt::format("<th scope=\"col\">{}</th>", isolated(series->name));
  html += "</tr></thead>\n<tbody>\n";
  for (const double x : rows.xs) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", figure(x));
    for (const Series* series : rows.series) {
      const Point* point = point_at(*series, x);
      html += point == nullptr ? "<td></td>" : fmt::format("<td>{}</td>", figure(point->y));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></details>\n";
}

}  // namespace

std::string chart_html(const LineChart& given) {
  const LineChart chart = finite(given);
  if (chart.series.empty()) return "";
  const Rows rows = rows_of(chart);
  return fmt::format("<figure>\n<figcaption>{}</figcaption>\n{}{}{}</figure>\n", isolated(chart.title), legend(chart),
                     picture(chart, rows), table(chart, rows));
}

}  // namespace espalier::report
