#include "espalier/report/run_page.h"

#include <fmt/format.h>

#include "espalier/report/html.h"
#include "espalier/report/page_sections.h"
#include "espalier/report/page_style.h"

namespace espalier::report {
namespace {

struct Section {
  std::string_view id;
  std::string_view title;
  std::string html;
};

std::string head(const RunReport& report) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      escaped(report.title), kPageStyle);
}

std::string top(const RunReport& report, const std::vector<Section>& sections) {
  std::string html =
      fmt::format("<header>\n<h1>{}</h1>\n<p class=\"outcome\"><b>{}</b>{}{}</p>\n", isolated(report.title),
                  isolated(report.outcome), report.message.empty() ? "" : " · ", isolated(report.message));
  if (!report.notes.empty()) {
    html += "<div class=\"notes\">\n";
    for (const std::string& note : report.notes) html += fmt::format("<p>{}</p>\n", isolated(note));
    html += "</div>\n";
  }
  html += "<nav aria-label=\"Sections\">\n";
  for (const Section& section : sections) html += fmt::format("<a href=\"#{}\">{}</a>\n", section.id, section.title);
  html += "</nav>\n";
  if (report.headlines.empty()) return html + "</header>\n";
  html += "<div class=\"tiles\">\n";
  for (const Headline& headline : report.headlines)
    html += fmt::format("<dl class=\"tile\"><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"note\">{}</dd></dl>\n",
                        isolated(headline.name), isolated(headline.value), isolated(headline.note));
  return html + "</div>\n</header>\n";
}

std::string curves_html(const std::vector<LineChart>& curves) {
  std::string html;
  for (const LineChart& chart : curves) html += chart_html(chart);
  return html.empty() ? "" : "<div class=\"charts\">\n" + html + "</div>\n";
}

std::string results_html(const RunReport& report) {
  std::string html;
  if (report.confusion) html += confusion_html(*report.confusion);
  if (report.residuals) html += residuals_html(*report.residuals);
  if (html.empty() || report.results_of.empty()) return html;
  return fmt::format("<p class=\"quiet\">{}</p>\n", isolated(report.results_of)) + html;
}

}  // namespace

std::string run_page(const RunReport& report) {
  std::vector<Section> sections{{"curves", "Curves", curves_html(report.curves)},
                                {"results", "Answers", results_html(report)},
                                {"mistakes", "Worst mistakes", mistakes_html(report)},
                                {"data", "Data", data_html(report.data)},
                                {"time", "Where the time went", time_html(report)},
                                {"batching", "Batching", batching_html(report.statistics)},
                                {"settings", "Settings", settings_html(report.settings)}};
  std::erase_if(sections, [](const Section& section) { return section.html.empty(); });
  std::string html = head(report) + top(report, sections) + "<main>\n";
  for (const Section& section : sections)
    html += fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", section.id,
                        section.title, section.html);
  return html + fmt::format(
                    "</main>\n<footer>{}</footer>\n<div id=\"said\" class=\"unseen\" aria-live=\"polite\">"
                    "</div>\n<script>{}</script>\n</body>\n</html>\n",
                    isolated(report.footer), kPageScript);
}

}  // namespace espalier::report
