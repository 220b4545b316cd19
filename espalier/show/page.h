/// Pages and pictures of what ran together in a graph: one HTML file that loads nothing, or one SVG.
///
///   esp::Trace trace;             // optional: for the times
///   loss.backward();
///   esp::write_page(g, "batches.html", {.trace = &trace});
///
/// Call these after value(), backward() or finish(). They read the graph and change nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/strategy.h"
#include "espalier/base/trace.h"
#include "espalier/graph/graph.h"

namespace espalier {

struct PageOptions {
  std::string title = "What ran together";
  std::string footer = {};
  /// Sentences that the page shows at its top.
  std::vector<std::string> notes = {};
  /// The input of an instance as a line of text; the first has number 0. Empty: instances have numbers only.
  std::function<std::string(std::int32_t instance)> text = {};
  /// A Trace that was on while the graph ran; null: the page shows no times.
  const Trace* trace = nullptr;
  /// Times of the same inputs by other strategies, if somebody measured them.
  struct Measured {
    Strategy strategy = Strategy::kFrontier;
    double seconds = 0;
  };
  std::vector<Measured> measured = {};
  /// Instances are drawn in their order as long as no more nodes are needed.
  std::int64_t most_nodes = 6000;
};

/// The page, as text: for notebooks and servers. Anything in a name or text from data is shown, never run.
ESPALIER_EXPORT std::string page_text(const Graph& graph, const PageOptions& options = {});
/// The same as a file. Refuses (ResourceError) what cannot be written.
ESPALIER_EXPORT void write_page(const Graph& graph, const std::filesystem::path& file, const PageOptions& options = {});

/// A picture for papers: the instances as trees or graphs, and the steps as blocks of rows. `animated`: the nodes move
/// into their steps again and again, without a script. Draws at most options.most_nodes nodes and kMostSvgSteps steps.
ESPALIER_EXPORT std::string picture_svg(const Graph& graph, bool animated, const PageOptions& options = {});
inline constexpr std::int64_t kMostSvgSteps = 60;

/// For terminals: Graph::explain(), then the strategies side by side, and advice.
ESPALIER_EXPORT std::string page_summary(const Graph& graph, const PageOptions& options = {});

}  // namespace espalier
