#include "espalier/show/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "espalier/base/at.h"
#include "espalier/base/files.h"
#include "espalier/report/html.h"
#include "espalier/report/numbers.h"
#include "espalier/report/page_style.h"
#include "espalier/show/page_parts.h"

namespace espalier {
namespace show {
namespace {

/// Of more steps, a page lists those of drawn nodes only.
constexpr std::int64_t kMostPageSteps = 4000;

std::string times_fewer(std::int64_t nodes, std::int64_t steps) {
  return report::short_number(static_cast<double>(nodes) / static_cast<double>(std::max<std::int64_t>(steps, 1)));
}

/// "1.5 ms instead of 12.3 ms: 8.0 times as fast", or nothing if that was not measured.
std::string measured_gain(const PageFacts& facts) {
  const double none = facts.measured(Strategy::kNone);
  const double now = facts.measured(facts.graph.options().strategy);
  if (none <= 0 || now <= 0 || facts.graph.options().strategy == Strategy::kNone) return "";
  return fmt::format("{} instead of {}: {:.1f} times as fast", report::short_time(now), report::short_time(none),
                     none / now);
}

std::string introduction(const PageFacts& facts) {
  const std::string nodes = report::whole_number(facts.nodes());
  const std::string gain = measured_gain(facts);
  const std::string saved = facts.steps() == facts.nodes()
                                ? "Here nothing ran together: each node took a kernel call of its own."
                                : fmt::format("In this way {} nodes took {} kernel call{} instead of {}{}{}.", nodes,
                                              report::whole_number(facts.steps()), facts.steps() == 1 ? "" : "s", nodes,
                                              gain.empty() ? "" : " and, as measured here, ", gain);
  return fmt::format(
      "<details class=\"intro\" open><summary>What this page shows</summary>\n<p>Each small tree or graph is one "
      "<em>input</em>, and each circle a <em>node</em>: one computation, with lines down to the nodes whose results it "
      "needs. Nodes run together if they do the same operation with the same weights and all that they need has been "
      "computed: they become the rows of one kernel call, a <em>step</em>, and the colour of a node shows its step. "
      "{}</p></details>\n",
      saved);
}

std::string tile(std::string_view name, std::string_view value, std::string_view note) {
  return fmt::format("<dl class=\"tile\"><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"note\">{}</dd></dl>\n",
                     report::escaped(name), report::escaped(value), report::escaped(note));
}

/// Why more nodes were recorded than computed.
std::string not_computed(const Statistics& counts) {
  if (counts.merged + counts.views == 0) return "";
  const std::string merged = fmt::format("{} equal another one", report::whole_number(counts.merged));
  const std::string views = fmt::format("{} are parts of another's result", report::whole_number(counts.views));
  return fmt::format("; {} more cost nothing: {}{}{}", report::whole_number(counts.merged + counts.views),
                     counts.merged > 0 ? merged : "", counts.merged > 0 && counts.views > 0 ? ", " : "",
                     counts.views > 0 ? views : "");
}

std::string tiles(const PageFacts& facts) {
  const Statistics& counts = facts.batches.statistics;
  std::string html = "<div class=\"tiles\">\n";
  html += tile("nodes computed", report::whole_number(facts.nodes()),
               fmt::format("of {} input{}{}", report::whole_number(facts.graph.instances()),
                           facts.graph.instances() == 1 ? "" : "s", not_computed(counts)));
  html += tile("steps (kernel calls)", report::whole_number(facts.steps()),
               fmt::format("{}: it is proven that no schedule has fewer than {}",
                           facts.steps() == facts.bound() ? "the fewest possible" : "lower bound",
                           report::whole_number(facts.bound())));
  html += tile("nodes per step", times_fewer(facts.nodes(), facts.steps()), "on average; 1 without batching");
  if (const double none = facts.measured(Strategy::kNone); none > 0 && !measured_gain(facts).empty()) {
    const double now = facts.measured(facts.graph.options().strategy);
    html += tile("time saved, measured", report::percent(none - now, none),
                 fmt::format("{} in steps, {} node by node", report::short_time(now), report::short_time(none)));
  } else if (facts.times.known) {
    html += tile("time, measured", report::short_time(facts.times.seconds), "recording and running");
  }
  html += tile("memory", report::short_bytes(static_cast<double>(counts.peak_bytes)), "in use at most");
  return html + "</div>\n";
}

std::string not_drawn(const PageFacts& facts) {
  const Picture& picture = facts.picture;
  const auto drawn = static_cast<std::int64_t>(picture.nodes.size());
  if (drawn == picture.all_nodes) return "";
  std::int64_t inputs = 0;
  for (const PictureInstance& instance : picture.instances) inputs += instance.name.starts_with("input ") ? 1 : 0;
  if (drawn == 0)
    return fmt::format(
        "<p class=\"note\">No input is drawn: each has more than {} nodes. The steps are all here.</p>\n",
        report::whole_number(facts.options.most_nodes));
  return fmt::format(
      "<p class=\"note\">{} of {} nodes are drawn, those of {} of {} inputs; numbers of steps and rows are of "
      "all.</p>\n",
      report::whole_number(drawn), report::whole_number(picture.all_nodes), report::whole_number(inputs),
      report::whole_number(picture.all_instances));
}

constexpr std::string_view kLegend =
    R"(<ul class="signs" aria-label="What the picture shows">
<li><i class="dot"></i>node: one computation</li>
<li><i class="dot ringed"></i>runs in the step shown</li>
<li><i class="dot faded"></i>has not run yet</li>
<li><i class="dot hollow"></i>equal to another node: computed once for both</li>
<li><i class="stroke"></i>leads up from a node to one that needs its result; pale where very many lead to one</li>
<li>Bottom nodes need only data and weights, such as the vector of a word; the top is the result of the input.</li>
</ul>)";

/// The picture and its controls; the script fills them.
std::string stage_html(const PageFacts& facts) {
  constexpr std::string_view kSteps = "STEPS";
  constexpr std::string_view kLegendPlace = "LEGEND";
  std::string html = not_drawn(facts) + R"(<figure class="stage-card" aria-labelledby="batches-title">
<div id="stage" class="stage"><canvas id="trees" tabindex="0" role="img" aria-describedby="keys" aria-label="The inputs as trees, and the step that runs"></canvas>
<div id="panel" class="panel"><p class="panel-step"><span id="panel-swatch" class="panel-swatch"></span><b id="panel-title"></b></p><p id="panel-what"></p><p id="panel-head"></p><ul id="panel-why"></ul><p id="panel-facts" class="note"></p></div>
<div id="tip" class="tip" role="tooltip" hidden></div></div>
LEGEND
<p class="note strip-label" id="strip-label">All steps in the order in which they ranSTEPS. Height: rows of the step, on a logarithmic scale. Hover over a bar for its operation; click it to see the step.</p>
<div class="strip-frame"><canvas id="strip" class="strip" aria-hidden="true"></canvas><div id="strip-tip" class="tip" hidden></div></div>
<input id="scrub" type="range" min="0" step="any" aria-label="Step"/>
<div class="controls" role="group" aria-label="Animation">
<button id="play" type="button">▶ Play</button>
<button id="first" type="button">Start</button>
<button id="back" type="button">◀ Step back</button>
<button id="next" type="button">Step on ▶</button>
<label>Speed <select id="speed"><option value="0.25">¼×</option><option value="0.5">½×</option><option value="1" selected="selected">1×</option><option value="2">2×</option><option value="4">4×</option><option value="8">8×</option></select></label>
<span class="zooms" role="group" aria-label="Zoom"><span>Zoom</span><button id="zoom-in" type="button" aria-label="Zoom in">+</button><button id="zoom-out" type="button" aria-label="Zoom out">−</button><button id="zoom-all" type="button">Whole picture</button></span>
</div>
<p id="said" class="unseen" aria-live="polite"></p>
<p id="keys" class="note keys">Keys in the picture: Space plays and pauses; ← and → go from step to step, ↑ and ↓ from row to row; + and − zoom, 0 shows all. Hover over a node, or click it, to see what it needs and its row.</p>
<noscript><p>The picture needs a script; all tables below do without.</p></noscript>
</figure>
)";
  const auto shown = static_cast<std::int64_t>(facts.shown_steps.size());
  const std::string some = shown == facts.steps() ? std::string()
                                                  : fmt::format("; {} of {} steps", report::whole_number(shown),
                                                                report::whole_number(facts.steps()));
  html.replace(html.find(kSteps), kSteps.size(), some);
  return html.replace(html.find(kLegendPlace), kLegendPlace.size(), kLegend);
}

std::string section(std::string_view id, std::string_view title, const std::string& html) {
  if (html.empty()) return "";
  return fmt::format("<section aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n", id,
                     title, html);
}

std::string whole_page(const PageFacts& facts) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<link rel=\"icon\" href=\"data:,\"/>\n<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{}</h1>\n",
      report::escaped(facts.options.title), report::kPageStyle, kBatchesStyle, report::isolated(facts.options.title));
  if (facts.batches.steps.empty()) {
    html += facts.batches.is_reference
                ? "<p>The reference code computed this graph, node by node: nothing ran together.</p>\n"
                : "<p>Nothing was computed yet: ask for a value first.</p>\n";
    return html + "</header>\n</body>\n</html>\n";
  }
  html += introduction(facts);
  html += tiles(facts);
  if (!facts.options.notes.empty()) {
    html += "<div class=\"notes\">\n";
    for (const std::string& note : facts.options.notes) html += fmt::format("<p>{}</p>\n", report::isolated(note));
    html += "</div>\n";
  }
  html += "</header>\n<main>\n";
  html += section("batches", "What runs together", stage_html(facts));
  html += section("advice", "What costs time", advice_html(facts));
  html += section("strategies", "Strategies side by side", strategies_html(facts));
  html += section("times", "Where the time went", times_html(facts));
  html += section("apart", "What was not batched, and why", apart_html(facts));
  html += section("memory", "Memory over time", memory_html(facts));
  html += section("steps", "All steps", steps_html(facts));
  html += fmt::format("</main>\n<footer>{}</footer>\n", report::isolated(facts.options.footer));
  return html +
         fmt::format(
             "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}{}</script>\n</body>\n</html>\n",
             page_data(facts), kDrawingScript, kActingScript);
}

}  // namespace

PageFacts::PageFacts(const Graph& of, const PageOptions& how, double aspect)
    : graph(of),
      options(how),
      batches(read_batches(of)),
      strategies(compare_strategies(of)),
      times(read_times(of, batches, how.trace)),
      advice(find_advice(of, batches, times)),
      picture(make_picture(of, batches, {.most_nodes = how.most_nodes, .aspect = aspect, .text = how.text})) {
  if (steps() <= kMostPageSteps) {
    for (std::int32_t step = 0; step < steps(); ++step) shown_steps.push_back(step);
    return;
  }
  std::set<std::int32_t> of_nodes;
  for (const PictureNode& node : picture.nodes) of_nodes.insert(node.step);
  for (std::int32_t step = 0; std::ssize(of_nodes) < kMostPageSteps / 10 && step < steps(); ++step)
    of_nodes.insert(step);
  shown_steps.assign(of_nodes.begin(), of_nodes.end());
}

std::int64_t PageFacts::nodes() const {
  std::int64_t all = 0;
  for (const BatchedStep& step : batches.steps) all += step.nodes;
  return all;
}

std::int64_t PageFacts::bound() const {
  std::int64_t all = 0;
  for (const BatchedRun& run : batches.runs) all += run.bound;
  return all;
}

std::string PageFacts::where(const BatchedStep& step) const {
  std::string text = graph.source(step.first).to_string();
  if (step.other_lines > 0)
    text += fmt::format(" and {} other line{}", step.other_lines, step.other_lines == 1 ? "" : "s");
  return text;
}

double PageFacts::measured(Strategy strategy) const {
  for (const PageOptions::Measured& of : options.measured)
    if (of.strategy == strategy) return of.seconds;
  return -1;
}

}  // namespace show

std::string page_text(const Graph& graph, const PageOptions& options) {
  return show::whole_page(show::PageFacts(graph, options));
}

void write_page(const Graph& graph, const std::filesystem::path& file, const PageOptions& options) {
  write_file_atomically(file, page_text(graph, options));
}

std::string page_summary(const Graph& graph, const PageOptions& options) {
  std::string text = graph.explain();
  const show::PageFacts facts(graph, options);
  if (!facts.strategies.empty()) {
    text += fmt::format("{:<10}{:>8}{:>8}{:>12}{:>14}{}\n", "strategy", "steps", "bound", "rows a step", "copied",
                        options.measured.empty() ? "" : "        time");
    for (const StrategyCounts& counts : facts.strategies) {
      const double seconds = facts.measured(counts.strategy);
      text += fmt::format("{:<10}{:>8}{:>8}{:>12}{:>14}", name_of(counts.strategy), counts.steps, counts.bound,
                          show::times_fewer(counts.nodes, counts.steps),
                          report::short_bytes(static_cast<double>(counts.copied)));
      text += seconds < 0 ? "\n" : fmt::format("{:>12}\n", report::short_time(seconds));
    }
  }
  for (const show::Advice& advice : facts.advice)
    text += fmt::format("advice{}: {}\n  as {}\n",
                        advice.seconds < 0 ? "" : fmt::format(", at most {}", report::short_time(advice.seconds)),
                        advice.what, advice.because);
  return text;
}

}  // namespace espalier
