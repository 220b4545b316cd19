/// The tables of a page.
#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/at.h"
#include "espalier/batch/own_strategy.h"
#include "espalier/report/html.h"
#include "espalier/report/numbers.h"
#include "espalier/show/colour.h"
#include "espalier/show/page_parts.h"

namespace espalier::show {
namespace {

using report::escaped;
using report::isolated_start;
using report::whole_number;

constexpr std::size_t kMostRows = 500;
constexpr std::size_t kLongestName = 120;

std::string wide_table(std::string_view label, std::string_view name, const std::string& rows) {
  return fmt::format(
      "<div class=\"card\"><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table "
      "class=\"{}\">\n{}"
      "</table></div></div>\n",
      label, name, rows);
}

/// A bar of a share of the whole, for a cell.
std::string bar(double part, double whole) {
  const double width = whole <= 0 ? 0 : std::clamp(100 * part / whole, 0.0, 100.0);
  return fmt::format("<span class=\"bar\" aria-hidden=\"true\"><i style=\"width:{:.1f}%\"></i></span>", width);
}

std::string strategy_note(Strategy strategy) {
  switch (strategy) {
    case Strategy::kNone: return "one node at a time";
    case Strategy::kDepth: return "by distance from the leaves (TensorFlow Fold)";
    case Strategy::kAgenda: return "the ready kind of least mean depth (DyNet)";
    case Strategy::kFrontier: return "the kind that brings the bound down";
  }
  return "";
}

std::string shared_text(const BatchedStep& step) {
  std::string text;
  for (const std::string& name : step.shared) text += (text.empty() ? "" : ", ") + isolated_start(name, kLongestName);
  return text.empty() ? "–" : text;
}

}  // namespace

std::string strategies_html(const PageFacts& facts) {
  if (facts.strategies.empty())
    return "<p>Values were given up and computed again, so the runs cannot be compared.</p>\n";
  const bool any_time = !facts.options.measured.empty();
  double most_steps = 1;
  for (const StrategyCounts& counts : facts.strategies)
    most_steps = std::max(most_steps, static_cast<double>(counts.steps));
  std::string rows = fmt::format(
      "<thead><tr><th scope=\"col\" class=\"text\">strategy</th><th scope=\"col\">steps</th><th scope=\"col\" "
      "class=\"bars\"><span class=\"unseen\">share of the most</span></th><th scope=\"col\">fewest possible</th>"
      "<th scope=\"col\">mean rows</th><th scope=\"col\">bytes copied</th>{}</tr></thead>\n<tbody>\n",
      any_time ? "<th scope=\"col\">time measured</th>" : "");
  for (const StrategyCounts& counts : facts.strategies) {
    const bool is_used =
        facts.graph.options().own_strategy == nullptr && counts.strategy == facts.graph.options().strategy;
    const double seconds = facts.measured(counts.strategy);
    rows += fmt::format(
        "<tr{} data-strategy=\"{}\"><th scope=\"row\" class=\"text\">{}{}<br/><span class=\"note\">{}</span></th>"
        "<td class=\"s-steps\">{}</td><td class=\"bars\">{}</td><td class=\"s-bound\">{}{}</td><td>{}</td>"
        "<td class=\"s-copied\">{}</td>{}</tr>\n",
        is_used ? " class=\"used\"" : "", name_of(counts.strategy), name_of(counts.strategy),
        is_used ? " <b>(used here)</b>" : "", strategy_note(counts.strategy), whole_number(counts.steps),
        bar(static_cast<double>(counts.steps), most_steps), counts.bound_is_exact ? "" : "≥ ",
        whole_number(counts.bound),
        report::short_number(static_cast<double>(counts.nodes) /
                             static_cast<double>(std::max<std::int64_t>(counts.steps, 1))),
        report::short_bytes(static_cast<double>(counts.copied)),
        !any_time     ? std::string()
        : seconds < 0 ? std::string("<td>–</td>")
                      : fmt::format("<td>{}</td>", report::short_time(seconds)));
  }
  return wide_table("Strategies", "numbers strategies", rows + "</tbody>");
}

std::string advice_html(const PageFacts& facts) {
  if (facts.advice.empty())
    return facts.times.known ? "<p>Nothing that is worth a change: no cause accounts for 1 % of the time.</p>\n"
                             : "<p>Nothing kept nodes apart. (Times were not taken: see below.)</p>\n";
  std::string rows = fmt::format(
      "<thead><tr><th scope=\"col\">{}</th><th scope=\"col\" class=\"bars\"></th><th scope=\"col\" "
      "class=\"text\">what to do, and why</th></tr></thead>\n<tbody>\n",
      facts.times.known ? "could save at most" : "nodes");
  for (const Advice& advice : facts.advice) {
    const bool timed = advice.seconds >= 0;
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"bars\">{}</td><td class=\"text\">{}<br/><span class=\"note\">{}</span></td></tr>\n",
        timed ? fmt::format("{} ({})", report::short_time(advice.seconds),
                            report::percent(advice.seconds, facts.times.seconds))
              : whole_number(advice.nodes),
        timed ? bar(advice.seconds, facts.times.seconds)
              : bar(static_cast<double>(advice.nodes), static_cast<double>(facts.nodes())),
        escaped(advice.what), isolated_start(advice.because, 600));
  }
  return wide_table("What costs time", "advice", rows + "</tbody>");
}

std::string apart_html(const PageFacts& facts) {
  if (facts.batches.apart.empty())
    return "<p>Everything that could run together did: each kind of node ran in one step.</p>\n";
  std::string rows =
      "<thead><tr><th scope=\"col\">nodes</th><th scope=\"col\">steps</th><th scope=\"col\" class=\"text\">op and line "
      "of the program</th><th scope=\"col\" class=\"text\">why</th></tr></thead>\n<tbody>\n";
  const std::size_t shown = std::min(facts.batches.apart.size(), kMostRows);
  for (const Apart& apart : std::span(facts.batches.apart).first(shown))
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
                        whole_number(apart.nodes), whole_number(apart.steps), isolated_start(apart.places, 400),
                        isolated_start(apart.why, 600));
  std::string html = wide_table("What was not batched", "apart", rows + "</tbody>");
  if (shown < facts.batches.apart.size())
    html += fmt::format("<p class=\"note\">And {} more causes.</p>\n", facts.batches.apart.size() - shown);
  return html;
}

std::string steps_html(const PageFacts& facts) {
  const bool timed = facts.times.known;
  std::string rows = fmt::format(
      "<thead><tr><th scope=\"col\">step</th><th scope=\"col\" class=\"text\">op</th><th scope=\"col\">nodes</th>"
      "<th scope=\"col\">rows</th><th scope=\"col\">inputs</th>{}<th scope=\"col\">copied</th><th scope=\"col\" "
      "class=\"text\">weights in common</th><th scope=\"col\" class=\"text\">where</th></tr></thead>\n<tbody>\n",
      timed ? "<th scope=\"col\">forward</th><th scope=\"col\">backward</th>" : "");
  const std::size_t shown = std::min(facts.shown_steps.size(), kMostRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::int32_t number = facts.shown_steps[i];
    const BatchedStep& step = facts.batches.steps[at(number)];
    rows += fmt::format(
        "<tr data-step=\"{}\"><th scope=\"row\"><button type=\"button\" class=\"to-step\" data-step=\"{}\"><span "
        "class=\"swatch\" style=\"background:{}\"></span>{}</button></th><td class=\"text\">{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td>{}<td>{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
        i, i, colour_of_step(number, facts.steps()), number + 1, isolated_start(facts.op(step), kLongestName),
        whole_number(step.nodes), whole_number(step.rows), whole_number(step.instances),
        timed ? fmt::format("<td>{}</td><td>{}</td>", report::short_time(facts.times.forward[at(number)]),
                            facts.times.backward[at(number)] > 0 ? report::short_time(facts.times.backward[at(number)])
                                                                 : std::string("–"))
              : std::string(),
        step.copied == 0 ? std::string("–") : report::short_bytes(static_cast<double>(step.copied)), shared_text(step),
        isolated_start(facts.where(step), kLongestName));
  }
  std::string html = wide_table("All steps", "numbers steps", rows + "</tbody>");
  if (static_cast<std::int64_t>(shown) < facts.steps())
    html += fmt::format("<p class=\"note\">{} of {} steps are listed.</p>\n",
                        whole_number(static_cast<std::int64_t>(shown)), whole_number(facts.steps()));
  return fmt::format("<details{}><summary>{} steps</summary>\n{}</details>\n", facts.steps() <= 12 ? " open" : "",
                     whole_number(facts.steps()), html);
}

}  // namespace espalier::show
