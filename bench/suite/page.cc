#include "bench/suite/page.h"

#include <fmt/format.h>

#include "bench/suite/targets.h"
#include "espalier/report/html.h"
#include "espalier/report/numbers.h"

namespace espalier::bench {
namespace {

using report::escaped;
using report::short_bytes;
using report::short_number;
using report::short_ratio;
using report::short_time;

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Espalier: benchmark</title>
<style>
body { font-family: sans-serif; font-size: 14px; margin: 2em auto; max-width: 1160px; color: #222; }
svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 7px; text-align: right; border-bottom: 1px solid #ddd; }
th:nth-child(-n+7), td:nth-child(-n+7) { text-align: left; }
thead th { position: sticky; top: 0; background: #f4f4f4; }
.verdicts td, .verdicts th { text-align: left; }
.verdicts td:first-child { white-space: nowrap; }
.missed { font-weight: bold; }
</style>
</head>
<body>
<h1>Espalier: benchmark</h1>
)";

std::string verdicts_html(const Records& records) {
  std::string html =
      "<h2>What it is to show</h2>\n<table class=\"verdicts\">\n"
      "<thead><tr><th></th><th>demand</th><th>worst figure</th></tr></thead>\n<tbody>\n";
  for (const Target& target : targets()) {
    const Verdict verdict = judge(target, records);
    const bool missed = verdict.kind == Verdict::Kind::kMissed;
    const std::string_view word = missed ? "not met" : verdict.kind == Verdict::Kind::kMet ? "met" : "not measured";
    html += fmt::format("<tr{}><td>{}</td><td>{}</td><td>{}</td></tr>\n", missed ? " class=\"missed\"" : "", word,
                        escaped(target.demand), escaped(verdict.text));
  }
  return html + "</tbody>\n</table>\n";
}

std::string records_html(const Records& records) {
  std::string html =
      "<h2>All figures</h2>\n<div "
      "class=\"wide\">\n<table>\n<thead><tr><th>workload</th><th>sizes</th><th>mode</th><th>threads</th>"
      "<th>batch</th><th>variant</th><th>leaves</th><th>instances/s</th><th>spread</th><th>of limit</th><th>by "
      "round</th>"
      "<th>time a batch</th><th>overhead</th><th>steps</th><th>bound</th><th>copied</th><th>peak</th><th>data</th>"
      "</tr></thead>\n<tbody>\n";
  for (const Record& record : records) {
    const bool espalier = record.steps > 0;
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td>{:.1f} "
        "%</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></"
        "tr>\n",
        record.workload, record.sizes, name_of(record.mode), record.threads, record.batch, name_of(record.variant),
        name_of(record.leaves), short_number(record.instances_per_second), 100 * record.spread,
        short_ratio(record.ratio_of_medians), short_ratio(record.ratio_to_limit), short_time(record.batch_seconds),
        espalier ? fmt::format("{:.1f} %", 100 * record.overhead()) : "",
        espalier ? fmt::format("{:.0f}", record.steps) : "", espalier ? fmt::format("{:.0f}", record.bound) : "",
        espalier ? short_bytes(record.bytes_copied) : "",
        record.peak_bytes > 0 ? short_bytes(static_cast<double>(record.peak_bytes)) : "",
        record.real_data ? "real" : "generated");
  }
  return html + "</tbody>\n</table>\n</div>\n";
}

}  // namespace

std::string page_html(const Records& records, std::string_view svg) {
  return fmt::format("{}{}{}{}</body>\n</html>\n", kHead, svg, verdicts_html(records), records_html(records));
}

}  // namespace espalier::bench
