/// The parts of a page. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/exec/batches.h"
#include "espalier/graph/graph.h"
#include "espalier/show/advice.h"
#include "espalier/show/page.h"
#include "espalier/show/picture.h"
#include "espalier/show/times.h"

namespace espalier::show {

/// All that a page is made of.
struct PageFacts {
  PageFacts(const Graph& of, const PageOptions& how, double aspect = 1.15);

  const Graph& graph;
  const PageOptions& options;
  Batches batches;
  std::vector<StrategyCounts> strategies;
  Times times;
  std::vector<Advice> advice;
  Picture picture;
  /// The steps that the page knows by themselves, by their numbers: all, or of very many those of drawn nodes.
  std::vector<std::int32_t> shown_steps;

  std::int64_t steps() const { return static_cast<std::int64_t>(batches.steps.size()); }
  std::int64_t nodes() const;
  std::int64_t bound() const;
  std::string op(const BatchedStep& step) const { return std::string(graph.signature(step.first).info->name); }
  /// "tree_lstm.cc:88 and 2 other lines"
  std::string where(const BatchedStep& step) const;
  /// The measured seconds of a strategy; negative if there are none.
  double measured(Strategy strategy) const;
};

/// What the script reads: JSON.
std::string page_data(const PageFacts& facts);

std::string strategies_html(const PageFacts& facts);
std::string advice_html(const PageFacts& facts);
std::string apart_html(const PageFacts& facts);
std::string steps_html(const PageFacts& facts);
std::string times_html(const PageFacts& facts);
std::string memory_html(const PageFacts& facts);

extern const std::string_view kBatchesStyle;
extern const std::string_view kDrawingScript;  // the script is both, in this order
extern const std::string_view kActingScript;

}  // namespace espalier::show
