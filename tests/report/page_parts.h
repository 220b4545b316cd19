/// What tests of pages need: a report with known figures, and a page without what is no XML.
#pragma once

#include <string>
#include <string_view>

#include "espalier/report/run_page.h"

namespace espalier::testing {

/// Without the document type, the style and the script.
inline std::string without(std::string page, std::string_view begin, std::string_view end) {
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    const std::size_t stop = page.find(end, at);
    if (stop == std::string::npos) return page;
    page.erase(at, stop + end.size() - at);
  }
  return page;
}
inline std::string as_xml(const std::string& page) {
  return without(without(without(page, "<!DOCTYPE", ">"), "<style>", "</style>"), "<script>", "</script>");
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

inline report::RunReport sample_report() {
  report::RunReport report;
  report.title = "sentiment";
  report.outcome = "stopped early";
  report.message = "No better accuracy in 3 evaluations.";
  report.footer = "made by a test";
  report.headlines = {{"accuracy", "0.75", "held out, epoch 2"}};
  report.curves = {
      {"Loss",
       "epoch",
       "loss",
       {{"training", {{1, 1.5}, {2, 1.25}, {3, 1.125}}, false, 0}, {"held out", {{1, 1.75}, {3, 1.375}}, false, 1}},
       2.0,
       "best"}};
  report.confusion = report::Confusion{{"no", "yes"}, {{30, 10}, {20, 140}}};
  report.mistakes_in_all = 30;
  report.mistakes = {{17, 4.25, "yes", "no", "an input"}};
  report.data = {{"train", 8544, 3, 19.125, 52}, {"test", 2210, 0, 0, 0}};
  report.settings = {{"batch", "64"}, {"optimizer", "adam(learning_rate=0.001)"}};
  report.statistics.steps = 98'765;
  report.statistics.bound = 91'234;
  report.statistics.nodes = 197'530;
  report.statistics.merged = 876'543;
  report.statistics.bytes_copied = 123'456'789;
  report.statistics.seconds.forward = 1;
  report.statistics.seconds.backward = 3;
  report.training_seconds = 5;
  report.threads = 2;
  return report;
}

}  // namespace espalier::testing
