#include "espalier/show/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "espalier/base/at.h"
#include "espalier/report/html.h"
#include "espalier/show/layout.h"

namespace espalier::show {
namespace {

constexpr std::size_t kLongestText = 160;
constexpr double kCaption = 1.6;  // columns of room under a tree
constexpr double kGap = 2;

/// Nodes that are drawn together: those of an instance, or of none for one reason.
struct Drawn {
  std::string name;
  std::string text;
  std::vector<NodeId> nodes;
};

class PictureMaker {
 public:
  PictureMaker(const Graph& graph, const Batches& batches, const PictureOptions& options)
      : graph_(graph), batches_(batches), options_(options), number_(batches.nodes.size(), -1) {}

  Picture run() {
    divide();
    choose();
    std::vector<Box> boxes;
    std::vector<std::size_t> first;
    for (const Drawn& drawn : chosen_) {
      first.push_back(picture_.nodes.size());
      boxes.push_back(add(drawn, static_cast<std::int32_t>(boxes.size())));
    }
    first.push_back(picture_.nodes.size());
    const Packing packing = pack(boxes, kGap, options_.aspect);
    picture_.width = packing.width;
    picture_.height = packing.height;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const BoxPlace& place = packing.places[i];
      picture_.instances.push_back(
          {chosen_[i].name, chosen_[i].text, place.x, place.y, boxes[i].width, boxes[i].height});
      for (std::size_t n = first[i]; n < first[i + 1]; ++n) {
        picture_.nodes[n].x += place.x;
        picture_.nodes[n].y += place.y;
      }
    }
    return std::move(picture_);
  }

 private:
  bool is_drawn(NodeId node) const {
    const BatchedNode& of = batches_.nodes[at(node)];
    if (graph_.signature(node).info->kind == Kind::kResult) return false;  // its cell is
    return of.step >= 0 || (of.merged && step_of(node) >= 0);
  }
  std::int32_t step_of(NodeId node) const { return batches_.nodes[at(batches_.nodes[at(node)].computed_by)].step; }

  void divide() {
    const auto of_instances = static_cast<std::size_t>(graph_.instances());
    all_.resize(of_instances + 3);
    for (std::int32_t i = 0; i < std::ssize(batches_.nodes); ++i) {
      const NodeId node{i};
      if (!is_drawn(node)) continue;
      ++picture_.all_nodes;
      const InstanceId instance = graph_.instance(node);
      std::size_t to = of_instances + 2;
      if (graph_.shared(node))
        to = of_instances;
      else if (instance == kJoint)
        to = of_instances + 1;
      else if (index_of(instance) >= 0)
        to = static_cast<std::size_t>(index_of(instance));
      all_[to].nodes.push_back(node);
    }
    for (std::size_t i = 0; i < of_instances; ++i) {
      if (all_[i].nodes.empty()) continue;
      ++picture_.all_instances;
      all_[i].name = fmt::format("input {}", i + 1);
    }
    all_[of_instances].name = "made from weights alone";
    all_[of_instances + 1].name = "joins several inputs";
    all_[of_instances + 2].name = of_instances == 0 ? "the graph" : "of no input";
  }

  void choose() {
    std::int64_t nodes = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const std::int64_t more = std::ssize(all_[i].nodes);
      if (more == 0 || nodes + more > options_.most_nodes) continue;
      nodes += more;
      if (options_.text && i < static_cast<std::size_t>(graph_.instances())) {
        const std::string text = options_.text(static_cast<std::int32_t>(i));
        const report::Clipped start = report::clipped(text, kLongestText);
        all_[i].text = std::string(start.text) + (start.whole ? "" : "…");
      }
      chosen_.push_back(std::move(all_[i]));
    }
  }

  /// Of what is drawn for an operand. A merged node has a place of its own; a view is its source, and a further result
  /// its cell.
  std::int32_t number_of(NodeId operand) const {
    const OpInfo& info = *graph_.signature(operand).info;
    const NodeId node = info.kind == Kind::kResult ? NodeId{index_of(operand) - info.result} : operand;
    return number_[at(node)] >= 0 ? number_[at(node)] : number_[at(batches_.nodes[at(node)].computed_by)];
  }

  /// The nodes and lines of one instance, from its own upper left corner.
  Box add(const Drawn& drawn, std::int32_t instance) {
    LayoutGraph local;
    const auto first = static_cast<std::int32_t>(picture_.nodes.size());
    for (const NodeId node : drawn.nodes) {
      const auto number = static_cast<std::int32_t>(picture_.nodes.size());
      for (const NodeId input : graph_.inputs(node)) {
        const std::int32_t from = number_of(input);
        if (from < first) continue;  // not drawn, or of another instance
        const auto begin = local.inputs.begin() + local.begin.back();
        if (std::find(begin, local.inputs.end(), from - first) != local.inputs.end()) continue;
        local.inputs.push_back(from - first);
        picture_.edges.push_back({from, number});
      }
      local.end_node();
      number_[at(node)] = number;
      const NodeId computed_by = batches_.nodes[at(node)].computed_by;
      picture_.nodes.push_back({.node = node,
                                .instance = instance,
                                .step = step_of(node),
                                .row = batches_.nodes[at(computed_by)].row,
                                .rows = graph_.rows(node),
                                .merged = batches_.nodes[at(node)].merged});
    }
    const NodeLayout layout = lay_out(local);
    for (std::size_t i = 0; i < drawn.nodes.size(); ++i) {
      PictureNode& to = picture_.nodes[at(first) + i];
      to.x = layout.places[i].x + 0.5;
      to.y = (layout.levels - 1 - layout.places[i].level) * kLevelHeight + 0.5;
    }
    return {layout.columns, (layout.levels - 1) * kLevelHeight + 1 + kCaption};
  }

  const Graph& graph_;
  const Batches& batches_;
  const PictureOptions& options_;
  std::vector<std::int32_t> number_;  // in the picture, by node; -1: not drawn
  std::vector<Drawn> all_;
  std::vector<Drawn> chosen_;
  Picture picture_;
};

}  // namespace

Picture make_picture(const Graph& graph, const Batches& batches, const PictureOptions& options) {
  if (batches.steps.empty()) return {};
  return PictureMaker(graph, batches, options).run();
}

}  // namespace espalier::show
