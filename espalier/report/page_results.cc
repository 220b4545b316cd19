// What a model answered: confusion of classes, residuals, the worst mistakes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "espalier/report/html.h"
#include "espalier/report/numbers.h"
#include "espalier/report/page_sections.h"

namespace espalier::report {
namespace {

constexpr std::size_t kMostClasses = 20;
constexpr std::size_t kLongestName = 18;
constexpr std::size_t kShortName = 4;  // stands upright above its column
constexpr std::size_t kShownInput = 240;
constexpr std::size_t kLongestInput = 20'000;
constexpr std::size_t kShownAnswer = 120;

std::int64_t row_sum(const Confusion& confusion, std::size_t row) {
  return std::accumulate(confusion.counts[row].begin(), confusion.counts[row].end(), std::int64_t{0});
}

std::int64_t column_sum(const Confusion& confusion, std::size_t column) {
  std::int64_t sum = 0;
  for (const std::vector<std::int64_t>& row : confusion.counts) sum += row[column];
  return sum;
}

/// The most frequent classes, in their order, and one class that stands for all others.
Confusion folded(const Confusion& whole) {
  const std::size_t count = whole.classes.size();
  if (count <= kMostClasses) return whole;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return row_sum(whole, a) > row_sum(whole, b); });
  order.resize(kMostClasses - 1);
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> place(count, order.size());
  Confusion result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    result.classes.push_back(whole.classes[order[i]]);
  }
  result.classes.push_back(fmt::format("{} others", count - order.size()));
  result.counts.assign(kMostClasses, std::vector<std::int64_t>(kMostClasses));
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) result.counts[place[i]][place[j]] += whole.counts[i][j];
  return result;
}

/// How often the answer was right, over all classes of the whole table.
std::int64_t right_answers(const Confusion& confusion) {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < confusion.classes.size(); ++i) right += confusion.counts[i][i];
  return right;
}

std::string cell(const Confusion& confusion, std::size_t row, std::size_t column, std::int64_t sum, bool is_others) {
  constexpr double kDarkest = 0.55;  // text stays readable on it
  const std::int64_t count = confusion.counts[row][column];
  if (count == 0) return "<td class=\"quiet\">0</td>";
  const double share = static_cast<double>(count) / static_cast<double>(sum);
  return fmt::format("<td class=\"{}\" style=\"--p:{:.3f}\" title=\"expected {}, predicted {}: {} of {}, {}\">{}</td>",
                     is_others       ? "quiet"
                     : row == column ? "good"
                                     : "wrong",
                     kDarkest * std::sqrt(share), escaped(confusion.classes[row]), escaped(confusion.classes[column]),
                     whole_number(count), whole_number(sum),
                     percent(static_cast<double>(count), static_cast<double>(sum)), whole_number(count));
}

std::string confusion_row(const Confusion& confusion, std::size_t row, bool has_others) {
  const std::int64_t sum = row_sum(confusion, row);
  const bool is_others = has_others && row + 1 == confusion.classes.size();
  std::string html = fmt::format("<tr><th scope=\"row\">{}</th>", isolated_start(confusion.classes[row], kLongestName));
  for (std::size_t column = 0; column < confusion.classes.size(); ++column)
    html += cell(confusion, row, column, sum, is_others && row == column);
  html += fmt::format(
      "<td class=\"sum\">{}</td><td class=\"sum\">{}</td></tr>\n", whole_number(sum),
      sum == 0 || is_others ? "–" : percent(static_cast<double>(confusion.counts[row][row]), static_cast<double>(sum)));
  return html;
}

std::string precision_row(const Confusion& confusion, bool has_others) {
  std::string html = "<tr><th scope=\"row\" class=\"sum\">precision</th>";
  for (std::size_t i = 0; i < confusion.classes.size(); ++i) {
    const std::int64_t sum = column_sum(confusion, i);
    const bool is_others = has_others && i + 1 == confusion.classes.size();
    html += fmt::format(
        "<td class=\"sum\">{}</td>",
        sum == 0 || is_others ? "–" : percent(static_cast<double>(confusion.counts[i][i]), static_cast<double>(sum)));
  }
  return html + "<td></td><td></td></tr>\n";
}

/// The value below which this share of the sorted numbers lies.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::string errors_table(const std::vector<ScatterPoint>& points) {
  std::vector<double> errors;
  double bias = 0;
  for (const ScatterPoint& point : points) {
    const double error = point.predicted - point.expected;
    if (!std::isfinite(error)) continue;
    errors.push_back(std::abs(error));
    bias += error;
  }
  if (errors.empty()) return "";
  std::sort(errors.begin(), errors.end());
  std::string html = fmt::format(
      "<div class=\"card\"><table class=\"facts numbers\"><caption>Errors: predicted minus expected</caption>\n<tbody>"
      "<tr><th scope=\"row\">answers</th><td>{}</td></tr>\n<tr><th scope=\"row\">mean error</th><td>{}</td></tr>\n",
      whole_number(static_cast<std::int64_t>(errors.size())), figure(bias / static_cast<double>(errors.size())));
  const std::pair<std::string_view, double> rows[] = {{"median", 0.5},
                                                      {"75th percentile of", 0.75},
                                                      {"90th percentile of", 0.9},
                                                      {"95th percentile of", 0.95},
                                                      {"99th percentile of", 0.99},
                                                      {"largest", 1}};
  for (const auto& [name, share] : rows)
    html += fmt::format("<tr><th scope=\"row\">{} absolute error</th><td>{}</td></tr>\n", name,
                        figure(quantile(errors, share)));
  return html + "</tbody></table></div>\n";
}

std::string input_html(const std::string& input) {
  const Clipped start = clipped(input, kShownInput);
  if (start.whole) return isolated(input);
  const Clipped most = clipped(input, kLongestInput);
  return fmt::format("{}…<details><summary>{}</summary><pre class=\"full\">{}{}</pre></details>", isolated(start.text),
                     most.whole ? "all of it" : "more of it", isolated(most.text), most.whole ? "" : "…");
}

}  // namespace

std::string confusion_html(const Confusion& whole) {
  if (whole.classes.empty()) return "";
  const Confusion confusion = folded(whole);
  const bool has_others = confusion.classes.size() < whole.classes.size();
  std::int64_t all = 0;
  for (std::size_t i = 0; i < whole.classes.size(); ++i) all += row_sum(whole, i);
  const std::int64_t right = right_answers(whole);
  std::string html = fmt::format(
      "<div class=\"card\"><h3>Confusion matrix: {} of {} right ({})</h3>\n<p class=\"note\">Rows: expected; columns: "
      "predicted; colours: shares of a row.</p>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Confusion matrix\"><table class=\"confusion\">\n<thead><tr><th></th>",
      whole_number(right), whole_number(all), percent(static_cast<double>(right), static_cast<double>(all)));
  for (const std::string& name : confusion.classes)
    html += fmt::format("<th scope=\"col\"><div{}>{}</div></th>",
                        clipped(name, kShortName).whole ? "" : " class=\"long\"", isolated_start(name, kLongestName));
  html += "<th scope=\"col\" class=\"sum\">all</th><th scope=\"col\" class=\"sum\">recall</th></tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < confusion.classes.size(); ++row) html += confusion_row(confusion, row, has_others);
  html += precision_row(confusion, has_others) + "</tbody></table></div>\n";
  if (has_others)
    html += fmt::format("<p class=\"note\">The {} most frequent of {} classes; the others together.</p>\n",
                        confusion.classes.size() - 1, whole.classes.size());
  return html + "</div>\n";
}

std::string residuals_html(const Residuals& residuals) {
  const std::string picture = scatter_html({"Predicted against expected", residuals.points});
  return picture.empty() ? "" : "<div class=\"pair\">\n" + picture + errors_table(residuals.points) + "</div>\n";
}

std::string mistakes_html(const RunReport& report) {
  if (report.mistakes.empty()) return "";
  std::string html = fmt::format("<p class=\"quiet\">{} of {}, those with the largest loss first{}{}</p>\n",
                                 report.mistakes.size(), whole_number(report.mistakes_in_all),
                                 report.results_of.empty() ? "" : ": ", isolated(report.results_of));
  html +=
      "<div class=\"card\"><table class=\"mistakes\">\n<thead><tr><th scope=\"col\" class=\"text\">instance</th>"
      "<th scope=\"col\">loss</th><th scope=\"col\" class=\"text\">expected</th>"
      "<th scope=\"col\" class=\"text\">predicted</th><th scope=\"col\" class=\"text\">input</th></tr></thead>\n<tbody>"
      "\n";
  for (const Mistake& mistake : report.mistakes)
    html += fmt::format(
        "<tr><th scope=\"row\" data-name=\"instance\">{}</th><td data-name=\"loss\">{}</td>"
        "<td class=\"text answer\" data-name=\"expected\">{}</td>"
        "<td class=\"text answer\" data-name=\"predicted\">{}</td><td class=\"input\">{}</td></tr>\n",
        mistake.instance, figure(mistake.loss), isolated_start(mistake.expected, kShownAnswer),
        isolated_start(mistake.predicted, kShownAnswer), input_html(mistake.input));
  return html + "</tbody></table></div>\n";
}

}  // namespace espalier::report
