/// The charts of a page: the timeline, and memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "espalier/base/at.h"
#include "espalier/report/html.h"
#include "espalier/report/numbers.h"
#include "espalier/show/colour.h"
#include "espalier/show/page_parts.h"

namespace espalier::show {
namespace {

constexpr double kChartWidth = 1160;
constexpr double kChartLeft = 96;

/// A round number of about a fifth of the range.
double tick_of(double range) {
  if (range <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= range / 5 * 0.999) return factor * power;
  return 10 * power;
}

int lane_of(Doing doing) {
  switch (doing) {
    case Doing::kRecording:
    case Doing::kCall: return 0;
    case Doing::kCopying:
    case Doing::kKernel:
    case Doing::kBackwardKernel:
    case Doing::kWeights: return 2;
    default: return 1;
  }
}

std::string_view paint_of(Doing doing) {
  switch (doing) {
    case Doing::kRecording: return "p0";
    case Doing::kCall: return "p1";
    case Doing::kCollecting: return "p2";
    case Doing::kScheduling: return "p3";
    case Doing::kPlanning: return "p4";
    case Doing::kCopying: return "p5";
    case Doing::kForward: return "p6";
    case Doing::kBackward: return "p7";
    default: return "p8";
  }
}

class Timeline {
 public:
  explicit Timeline(const PageFacts& facts) : facts_(facts), times_(facts.times) {
    begin_ = times_.spans.front().begin;
    for (const TimeSpan& span : times_.spans) end_ = std::max(end_, span.end);
    end_ = std::max(end_, begin_ + 1);
  }

  std::string svg() {
    constexpr double kHeight = 3 * kLane + 34;
    std::string svg = fmt::format(
        "<svg class=\"chart timeline\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Timeline of the graph's spans; "
        "the "
        "table below has the sums\">\n",
        kChartWidth, kHeight);
    const double range = static_cast<double>(end_ - begin_) * 1e-9;
    const double tick = tick_of(range);
    for (double t = 0; t <= range * 1.0001; t += tick)
      svg += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\"/><text class=\"tick\" x=\"{0:.1f}\" "
          "y=\"{2}\" text-anchor=\"middle\">{3}</text>\n",
          kChartLeft + (kChartWidth - kChartLeft - 20) * t / range, 3 * kLane + 8, 3 * kLane + 24,
          t == 0 ? std::string("0") : report::short_time(t));
    constexpr std::string_view kNames[] = {"program", "engine", "steps"};
    for (int lane = 0; lane < 3; ++lane)
      svg += fmt::format("<text class=\"tick\" x=\"0\" y=\"{}\">{}</text>\n", lane * kLane + 22, kNames[lane]);
    for (const TimeSpan& span : times_.spans)
      if (span.doing != Doing::kMemory) svg += rectangle(span);
    return svg + "</svg>\n";
  }

 private:
  static constexpr double kLane = 34;

  double x_of(std::int64_t time) const {
    return kChartLeft +
           (kChartWidth - kChartLeft - 20) * static_cast<double>(time - begin_) / static_cast<double>(end_ - begin_);
  }

  std::string rectangle(const TimeSpan& span) {
    const int lane = lane_of(span.doing);
    const double x = x_of(span.begin);
    const double width = x_of(span.end) - x;
    // What is too narrow to be seen is drawn once per place.
    double& drawn_to = drawn_to_[static_cast<std::size_t>(lane)];
    if (width < 0.3 && x + width < drawn_to + 0.3) return "";
    drawn_to = x + width;
    std::string name = span.name >= 0 ? times_.names[at(span.name)] : std::string();
    std::string paint = fmt::format("class=\"{}\"", paint_of(span.doing));
    if (span.step >= 0) {
      if (lane == 2 && span.doing != Doing::kCopying)
        paint = fmt::format("fill=\"{}\"", colour_of_step(number_of(span), facts_.steps()));
      name = fmt::format("{} {}: {} nodes", name, span.step + 1, span.amount);
    }
    const std::string title = fmt::format("{}{}{}, {}", name_of(span.doing), name.empty() ? "" : ": ", name,
                                          report::short_time(static_cast<double>(span.end - span.begin) * 1e-9));
    std::string rect =
        fmt::format("<rect {} x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"><title>{}</title></rect>", paint, x,
                    lane * kLane + 4, std::max(width, 0.3), kLane - 6, report::escaped(title));
    if (width > 60 && lane < 2)
      rect += fmt::format("<text class=\"span-name\" x=\"{:.1f}\" y=\"{}\">{}</text>", x + 5, lane * kLane + 22,
                          report::escaped(span.doing == Doing::kCall ? name + "()" : std::string(name_of(span.doing))));
    return rect + "\n";
  }

  std::int64_t number_of(const TimeSpan& span) const {
    std::int64_t before = 0;
    for (const BatchedRun& run : facts_.batches.runs) {
      if (run.number == span.run) return before + span.step;
      before += run.steps;
    }
    return span.step;
  }

  const PageFacts& facts_;
  const Times& times_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  double drawn_to_[3] = {-1, -1, -1};
};

constexpr std::size_t kMostPoints = 1000;

}  // namespace

std::string times_html(const PageFacts& facts) {
  if (!facts.times.known)
    return "<p>No times were taken. Make an <code>esp::Trace</code> before the graph runs, and give it to the page "
           "(<code>PageOptions::trace</code>).</p>\n";
  std::string rows =
      "<thead><tr><th scope=\"col\" class=\"text\">part</th><th scope=\"col\">time</th><th scope=\"col\">share</th><th "
      "scope=\"col\" class=\"bars\"></th><th scope=\"col\" class=\"text\"></th></tr></thead>\n<tbody>\n";
  for (const TimePart& part : facts.times.parts) {
    if (part.seconds <= 0) continue;
    const double share = facts.times.seconds > 0 ? 100 * part.seconds / facts.times.seconds : 0;
    rows += fmt::format(
        "<tr><th scope=\"row\" class=\"text\">{}</th><td>{}</td><td>{}</td><td class=\"bars\"><span class=\"bar\" "
        "aria-hidden=\"true\"><i style=\"width:{:.1f}%\"></i></span></td><td class=\"text note\">{}</td></tr>\n",
        part.name, report::short_time(part.seconds), report::percent(part.seconds, facts.times.seconds), share,
        part.note);
  }
  return fmt::format(
      "<div class=\"card\">{}<p class=\"note\">Of one run with the times above; hover for names. <code>espalier "
      "explain "
      "--trace run.json</code> writes the same for Perfetto.</p>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Times\"><table class=\"numbers\">\n{}</tbody></table></div></div>\n",
      Timeline(facts).svg(), rows);
}

std::string memory_html(const PageFacts& facts) {
  const std::size_t steps = facts.batches.steps.size();
  std::int64_t reserved = 0;
  for (const BatchedRun& run : facts.batches.runs) reserved = std::max(reserved, run.value_bytes);
  std::int64_t most = reserved;
  for (const BatchedStep& step : facts.batches.steps) most = std::max(most, step.needed);
  if (steps < 2 || most == 0) return "";
  constexpr double kHeight = 190;
  constexpr double kTop = 10;
  const auto x = [&](std::size_t step) {
    return kChartLeft + (kChartWidth - kChartLeft - 20) * static_cast<double>(step) / static_cast<double>(steps - 1);
  };
  const auto y = [&](std::int64_t bytes) {
    return kTop + (kHeight - kTop) * (1 - static_cast<double>(bytes) / static_cast<double>(most));
  };
  // The most of each bucket.
  const std::size_t bucket = (steps + kMostPoints - 1) / kMostPoints;
  std::string needed;
  for (std::size_t s = 0; s < steps; s += bucket) {
    std::int64_t bytes = 0;
    for (std::size_t i = s; i < std::min(steps, s + bucket); ++i)
      bytes = std::max(bytes, facts.batches.steps[i].needed);
    needed += fmt::format("{:.1f},{:.1f} ", x(s), y(bytes));
  }
  std::string set_aside;
  std::size_t first = 0;
  for (const BatchedRun& run : facts.batches.runs) {
    const auto end = first + static_cast<std::size_t>(run.steps);
    if (end > first && facts.batches.runs.size() <= kMostPoints)
      set_aside +=
          fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x(first), y(run.value_bytes), x(end - 1), y(run.value_bytes));
    first = end;
  }
  std::string svg =
      fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Bytes of values by step\">\n",
                  kChartWidth, kHeight + 40);
  const double tick = tick_of(static_cast<double>(most));
  for (double bytes = 0; bytes <= static_cast<double>(most) * 1.0001; bytes += tick)
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text class=\"tick\" "
        "x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kChartLeft, kChartWidth - 20, y(static_cast<std::int64_t>(bytes)), kChartLeft - 8,
        y(static_cast<std::int64_t>(bytes)) + 4, report::short_bytes(bytes));
  const double step_tick = std::max(1.0, tick_of(static_cast<double>(steps)));
  for (double s = 1; s <= static_cast<double>(steps); s = s < 2 && step_tick > 1 ? step_tick : s + step_tick)
    svg += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                       x(static_cast<std::size_t>(s) - 1), kHeight + 18, static_cast<std::int64_t>(s));
  svg += fmt::format("<text class=\"tick\" x=\"{:.0f}\" y=\"{}\" text-anchor=\"middle\">step</text>\n",
                     (kChartLeft + kChartWidth) / 2, kHeight + 36);
  svg += fmt::format("<polygon class=\"needed-area\" points=\"{:.1f},{:.1f} {}{:.1f},{:.1f}\"/>\n", x(0), y(0), needed,
                     x((steps - 1) / bucket * bucket), y(0));
  svg += fmt::format("<polyline class=\"line c0\" fill=\"none\" points=\"{}\"/>\n", needed);
  svg += fmt::format("<polyline class=\"line c1\" fill=\"none\" points=\"{}\"/>\n</svg>\n", set_aside);
  std::int64_t gradients = 0;
  for (const BatchedRun& run : facts.batches.runs) gradients += run.gradient_bytes;
  return fmt::format(
      "<div class=\"card\"><p class=\"legend\"><span><i class=\"dash d0\"></i>values that later steps, backward or you "
      "still read</span><span><i class=\"dash d1\"></i>memory set aside, also for what forward leaves for backward: "
      "{}</span></p>\n{}<p class=\"note\">{}In use at "
      "most: {}, of which values and gradients {}.</p></div>\n",
      report::short_bytes(static_cast<double>(reserved)), svg,
      gradients == 0 ? std::string()
                     : fmt::format("Gradients take {} more during the backward pass. ",
                                   report::short_bytes(static_cast<double>(gradients))),
      report::short_bytes(static_cast<double>(facts.batches.statistics.peak_bytes)),
      report::short_bytes(static_cast<double>(facts.batches.statistics.node_bytes)));
}

}  // namespace espalier::show
