#include "bench/suite/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <tuple>
#include <vector>

#include "bench/suite/page.h"
#include "espalier/base/files.h"
#include "espalier/report/axis.h"
#include "espalier/report/svg.h"

namespace espalier::bench {
namespace {

using report::Axis;
using report::Mark;
using report::Point;
using report::Scale;
using report::Svg;
using report::tick_text;

constexpr std::string_view kTitle = "Throughput against the size of a minibatch";
constexpr double kPanelWidth = 430;
constexpr double kPanelHeight = 270;
constexpr double kLegendHeight = 66;
constexpr std::size_t kAcross = 2;  // training and inference side by side
// Within a panel.
constexpr double kLeft = 62;
constexpr double kRight = 16;
constexpr double kTop = 36;
constexpr double kBottom = 46;

constexpr std::string_view kGrey = "fill=\"#444444\"";
constexpr std::string_view kGrid = "stroke=\"#dddddd\"";

/// Colours of Okabe and Ito (2008), which most people can tell apart, and a separate mark for each variant.
struct Look {
  Variant variant;
  std::string_view colour;
  std::string_view text;
  Mark mark;
};
constexpr std::array<Look, 5> kLooks{{{Variant::kLimit, "#000000", "limit, by hand", Mark::kCircle},
                                      {Variant::kCells, "#0072B2", "cells", Mark::kSquare},
                                      {Variant::kRecursion, "#009E73", "recursion", Mark::kCircle},
                                      {Variant::kPlain, "#E69F00", "plain, op by op", Mark::kTriangle},
                                      {Variant::kUnbatched, "#CC79A7", "unbatched", Mark::kDiamond}}};

const Look& look_of(Variant variant) {
  const Variant shown = variant == Variant::kLimitDedupe ? Variant::kLimit : variant;
  return *std::find_if(kLooks.begin(), kLooks.end(), [&](const Look& look) { return look.variant == shown; });
}

std::string stroke(std::string_view colour, bool dashed) {
  return fmt::format("stroke=\"{}\" stroke-width=\"1.8\"{}", colour, dashed ? " stroke-dasharray=\"5 3\"" : "");
}

struct Line {
  Variant variant{};
  std::int32_t threads = 1;
  std::vector<const Record*> points;  // by batch
};

/// The records of one workload, size and mode.
struct Panel {
  std::string title;
  std::vector<Line> lines;
};

std::vector<Panel> panels_of(const Records& records) {
  std::vector<Panel> panels;
  std::map<std::tuple<std::string, std::string, Mode>, std::size_t> places;
  for (const Record& record : records) {
    // Only one setting of `leaves` is drawn: each for itself, if both were measured.
    if (record.leaves == Leaves::kOnce && std::any_of(records.begin(), records.end(), [&](const Record& other) {
          return other.leaves == Leaves::kEach && other.same_setting(record) &&
                 name_of(other.variant) == name_of(record.variant);
        }))
      continue;
    const auto [place, is_new] = places.try_emplace({record.workload, record.sizes, record.mode}, panels.size());
    if (is_new) panels.push_back({fmt::format("{} {} {}", record.workload, record.sizes, name_of(record.mode)), {}});
    std::vector<Line>& lines = panels[place->second].lines;
    const Variant variant = look_of(record.variant).variant;
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](const Line& one) { return one.variant == variant && one.threads == record.threads; });
    if (line == lines.end()) line = lines.insert(lines.end(), {variant, record.threads, {}});
    line->points.push_back(&record);
  }
  for (Panel& panel : panels)
    for (Line& line : panel.lines)
      std::sort(line.points.begin(), line.points.end(),
                [](const Record* a, const Record* b) { return a->batch < b->batch; });
  return panels;
}

void draw_line(Svg& svg, const Line& line, const Axis& x, const Axis& y, bool dashed) {
  const Look& look = look_of(line.variant);
  std::vector<Point> points;
  for (const Record* record : line.points)
    points.push_back({x.place(record->batch), y.place(record->instances_per_second)});
  svg.polyline(points, stroke(look.colour, dashed));
  for (const Point& point : points) svg.mark(look.mark, point, look.colour, !dashed);
}

/// The ranges of a panel's axes.
struct Range {
  explicit Range(const Panel& panel) {
    for (const Line& line : panel.lines) {
      fewest_threads = std::min(fewest_threads, line.threads);
      for (const Record* record : line.points) {
        low = std::min(low, record->instances_per_second);
        high = std::max(high, record->instances_per_second);
        batches.insert(record->batch);
      }
    }
  }

  double low = INFINITY;
  double high = 0;
  std::set<std::int32_t> batches;
  std::int32_t fewest_threads = std::numeric_limits<std::int32_t>::max();
};

void draw_panel(Svg& svg, const Panel& panel, Point corner) {
  const Range range(panel);
  const double left = corner.x + kLeft;
  const double right = corner.x + kPanelWidth - kRight;
  const double top = corner.y + kTop;
  const double bottom = corner.y + kPanelHeight - kBottom;
  const Axis x(Scale::kLog, *range.batches.begin(), *range.batches.rbegin(), left + 10, right - 10);
  // Small differences should not look large.
  const double margin = std::max(1.3, std::sqrt(4 * range.low / range.high));
  const Axis y(Scale::kLog, range.low / margin, range.high * margin, bottom, top);

  svg.text({left, top - 12}, panel.title, "font-weight=\"bold\"");
  for (const double tick : y.ticks()) {
    svg.line({left, y.place(tick)}, {right, y.place(tick)}, kGrid);
    svg.text({left - 6, y.place(tick) + 4}, tick_text(tick), fmt::format("text-anchor=\"end\" {}", kGrey));
  }
  for (const std::int32_t batch : range.batches) {
    svg.line({x.place(batch), top}, {x.place(batch), bottom}, kGrid);
    svg.text({x.place(batch), bottom + 16}, fmt::format("{}", batch), fmt::format("text-anchor=\"middle\" {}", kGrey));
  }
  svg.rectangle({left, top}, right - left, bottom - top, "fill=\"none\" stroke=\"#888888\"");
  svg.text({(left + right) / 2, bottom + 32}, "instances in a minibatch",
           fmt::format("text-anchor=\"middle\" {}", kGrey));
  svg.upright_text({corner.x + 14, (top + bottom) / 2}, "instances a second", kGrey);
  // From the last variant to the first, so that the limit and cells are on top.
  for (const Look& look : kLooks | std::views::reverse)
    for (const Line& line : panel.lines)
      if (line.variant == look.variant) draw_line(svg, line, x, y, line.threads > range.fewest_threads);
}

void draw_legend(Svg& svg, const std::vector<Panel>& panels) {
  constexpr double kY = 48;
  constexpr double kMarkAndGap = 56;
  constexpr double kLetter = 6.4;  // about the width of one
  std::set<Variant> variants;
  std::set<std::int32_t> threads;
  for (const Panel& panel : panels)
    for (const Line& line : panel.lines) {
      variants.insert(line.variant);
      threads.insert(line.threads);
    }
  svg.text({20, 26}, kTitle, "font-size=\"16\" font-weight=\"bold\"");
  double x = 20;
  for (const Look& look : kLooks) {
    if (!variants.contains(look.variant)) continue;
    svg.line({x, kY}, {x + 24, kY}, stroke(look.colour, false));
    svg.mark(look.mark, {x + 12, kY}, look.colour, true);
    svg.text({x + 30, kY + 4}, look.text);
    x += kMarkAndGap + kLetter * static_cast<double>(look.text.size());
  }
  if (threads.size() < 2) return;
  const std::int32_t fewest = *threads.begin();
  threads.erase(threads.begin());
  svg.text({x + 8, kY + 4},
           fmt::format("solid: {} thread{}; dashed, hollow: {} threads", fewest, fewest == 1 ? "" : "s",
                       fmt::join(threads, ", ")),
           kGrey);
}

}  // namespace

std::string plot_svg(const Records& records) {
  const std::vector<Panel> panels = panels_of(records);
  const std::size_t rows = (panels.size() + kAcross - 1) / kAcross;
  Svg svg(kTitle, kPanelWidth * kAcross, kLegendHeight + kPanelHeight * static_cast<double>(rows));
  draw_legend(svg, panels);
  for (std::size_t i = 0; i < panels.size(); ++i)
    draw_panel(svg, panels[i],
               {kPanelWidth * static_cast<double>(i % kAcross),
                kLegendHeight + kPanelHeight * static_cast<double>(i / kAcross)});
  return svg.finish();
}

void write_plot(const std::filesystem::path& path, const Records& records) {
  write_file_atomically(path, path.extension() == ".html" ? page_html(records, plot_svg(records)) : plot_svg(records));
}

}  // namespace espalier::bench
