// How a run was made: its data, its settings, where its time went, and how well it was batched.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "espalier/report/html.h"
#include "espalier/report/numbers.h"
#include "espalier/report/page_sections.h"

namespace espalier::report {
namespace {

struct TimePart {
  std::string_view name;
  std::string_view note;
  double seconds;
};

std::string time_table(const std::vector<TimePart>& parts, double whole, bool has_swatches) {
  std::string html =
      "<table class=\"facts numbers\"><thead><tr><th scope=\"col\" class=\"text\">part</th><th scope=\"col\">time</th>"
      "<th scope=\"col\">share</th><th></th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < parts.size(); ++i)
    html += fmt::format(
        "<tr><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td class=\"quiet\" style=\"white-space:normal;"
        "text-align:left\">{}</td></tr>\n",
        has_swatches ? fmt::format("<span class=\"swatch t{}\" aria-hidden=\"true\"></span>", i) : "", parts[i].name,
        short_time(parts[i].seconds), percent(parts[i].seconds, whole), parts[i].note);
  return html + "</tbody></table>\n";
}

/// The parts as one bar.
std::string bar_html(const std::vector<TimePart>& parts, double whole) {
  std::string html = "<div class=\"shares\" aria-hidden=\"true\">";
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].seconds > 0)
      html += fmt::format("<span class=\"t{}\" style=\"flex:{:.4f}\" title=\"{}: {}\"></span>", i,
                          parts[i].seconds / whole, parts[i].name, percent(parts[i].seconds, whole));
  return html + "</div>\n";
}

struct Fact {
  std::string_view name;
  std::string value;
  std::string_view note;
};

std::string facts_table(std::span<const Fact> facts) {
  std::string html = "<div class=\"card\"><table class=\"facts numbers\"><tbody>\n";
  for (const Fact& fact : facts)
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"quiet\" style=\"white-space:normal;text-align:left\">{}"
        "</td></tr>\n",
        fact.name, fact.value, fact.note);
  return html + "</tbody></table></div>\n";
}

}  // namespace

std::string data_html(const std::vector<DataSplit>& data) {
  if (data.empty()) return "";
  std::string html =
      "<div class=\"card\"><div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Data\"><table>\n<thead><tr>"
      "<th scope=\"col\" class=\"text\">split</th><th scope=\"col\">instances</th><th scope=\"col\">fewest nodes</th>"
      "<th scope=\"col\">mean</th><th scope=\"col\">most</th></tr></thead>\n<tbody>\n";
  for (const DataSplit& split : data) {
    html +=
        fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", isolated(split.name), whole_number(split.instances));
    html += split.most_nodes == 0
                ? "<td></td><td></td><td></td></tr>\n"
                : fmt::format("<td>{}</td><td>{}</td><td>{}</td></tr>\n", whole_number(split.fewest_nodes),
                              short_number(split.mean_nodes), whole_number(split.most_nodes));
  }
  return html + "</tbody></table></div></div>\n";
}

std::string settings_html(const std::vector<std::pair<std::string, std::string>>& settings) {
  if (settings.empty()) return "";
  std::string html = "<div class=\"card\"><table class=\"facts\"><tbody>\n";
  for (const auto& [name, value] : settings)
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", isolated(name), isolated(value));
  return html + "</tbody></table></div>\n";
}

std::string time_html(const RunReport& report) {
  const Statistics::Seconds& seconds = report.statistics.seconds;
  const std::vector<TimePart> parts{{"recording", "the model's own code, which makes the graph", seconds.recording},
                                    {"scheduling", "which nodes run together", seconds.scheduling},
                                    {"planning", "a place in memory for every row", seconds.planning},
                                    {"forward", "values and losses", seconds.forward},
                                    {"backward", "gradients", seconds.backward},
                                    {"update", "the optimizer", seconds.update}};
  double whole = 0;
  for (const TimePart& part : parts) whole += part.seconds;
  if (whole <= 0) return "";
  std::string html = fmt::format("<p class=\"quiet\">{} of training, measured in the graphs of {} thread{}{}{}.",
                                 short_time(whole), report.threads, report.threads == 1 ? "" : "s",
                                 report.statistics_of.empty() ? "" : ", ", isolated(report.statistics_of));
  if (report.training_seconds > 0)
    html += fmt::format(" Training took {} of wall time.", short_time(report.training_seconds));
  html += "</p>\n<div class=\"card\">" + bar_html(parts, whole) + time_table(parts, whole, true) + "</div>\n";
  const std::vector<TimePart> inner{{"products", "matrix products, with laying out their weights", seconds.products},
                                    {"maps", "all other computation", seconds.maps},
                                    {"copying", "bringing operands together", seconds.copying}};
  const double profiled = seconds.forward + seconds.backward;
  if (seconds.products + seconds.maps + seconds.copying > 0)
    html +=
        "<div class=\"card\"><h3>Within forward and backward</h3>\n" + time_table(inner, profiled, false) + "</div>\n";
  return html;
}

std::string batching_html(const Statistics& statistics) {
  if (statistics.steps == 0) return "";
  const std::array facts{
      Fact{"steps", whole_number(statistics.steps), "kernel calls; each runs all nodes that could run together"},
      Fact{statistics.bound_is_exact ? "least possible" : "least possible, or more", whole_number(statistics.bound),
           "no order of the same nodes has fewer steps"},
      Fact{"steps beyond that", whole_number(statistics.forced), "the order of nodes was chosen by a quick rule"},
      Fact{"nodes", whole_number(statistics.nodes), "that ran in a step"},
      Fact{"rows per step", short_number(statistics.rows_a_step()), "the mean; large ones keep the processor busy"},
      Fact{"merged nodes", whole_number(statistics.merged), "equal to another node, so not computed again"},
      Fact{"views", whole_number(statistics.views), "parts of other nodes, at no cost"},
      Fact{"copied", short_bytes(static_cast<double>(statistics.bytes_copied)),
           "to bring operands of a step side by side"},
      Fact{"peak memory", short_bytes(static_cast<double>(statistics.peak_bytes)),
           "of one graph: records, plans, values and gradients"},
      Fact{"plans reused", fmt::format("{} of {}", whole_number(statistics.plan_hits), whole_number(statistics.plans)),
           "minibatches of equal structure share a plan"},
      Fact{"runs", whole_number(statistics.runs), "of graphs"}};
  return facts_table(facts);
}

}  // namespace espalier::report
