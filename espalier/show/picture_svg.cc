/// The picture for papers and README files: inputs to the left, steps as blocks of rows to the right.
#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/at.h"
#include "espalier/report/html.h"
#include "espalier/report/numbers.h"
#include "espalier/show/colour.h"
#include "espalier/show/page.h"
#include "espalier/show/page_parts.h"

namespace espalier {
namespace show {
namespace {

constexpr double kSvgWidth = 880;
constexpr double kMargin = 18;
constexpr double kTop = 52;
constexpr double kLeftWidth = 400;  // of the inputs
constexpr double kBlocks = 446;     // where the blocks begin
constexpr double kRowsFrom = 504;   // where their rows do
constexpr double kSecondsPerStep = 1.7;
constexpr double kSecondsAtEnd = 3.5;

struct Spot {
  double x = 0;
  double y = 0;
};

class StepsSvg {
 public:
  StepsSvg(const PageFacts& facts, bool animated)
      : facts_(facts), animated_(animated), shown_(std::min(facts.steps(), kMostSvgSteps)) {
    unit_ = facts.picture.width <= 0 ? 1 : std::min(34.0, kLeftWidth / facts.picture.width);
    radius_ = std::clamp(unit_ * 0.36, 1.5, 11.0);
    line_ = std::clamp(460.0 / static_cast<double>(std::max<std::int64_t>(shown_, 1)), 13.0, 40.0);
    for (std::int64_t s = 0; s < shown_; ++s) most_nodes_ = std::max(most_nodes_, facts.batches.steps[at(s)].nodes);
    constexpr double kShare = 0.55;  // of the width; the rest is for words
    pitch_ = std::min(2 * radius_ + 5, kShare * (kSvgWidth - kMargin - kRowsFrom) / static_cast<double>(most_nodes_));
    number_nodes();
    bottom_ = kTop + std::max(facts.picture.height * unit_, line_ * static_cast<double>(shown_)) + 8;
  }

  std::string text() {
    open();
    edges();
    for (std::int64_t s = 0; s < shown_; ++s) block(s);
    nodes();
    captions();
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

 private:
  void number_nodes() {
    const std::vector<BatchedNode>& nodes = facts_.batches.nodes;
    std::vector<std::int32_t> order;
    for (std::int32_t i = 0; i < std::ssize(nodes); ++i)
      if (nodes[at(i)].step >= 0 && nodes[at(i)].step < shown_) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return nodes[at(a)].step != nodes[at(b)].step ? nodes[at(a)].step < nodes[at(b)].step
                                                    : nodes[at(a)].row < nodes[at(b)].row;
    });
    place_.assign(nodes.size(), 0);
    for (std::size_t i = 1; i < order.size(); ++i)
      if (nodes[at(order[i])].step == nodes[at(order[i - 1])].step) place_[at(order[i])] = place_[at(order[i - 1])] + 1;
  }

  static double cycle(std::int64_t steps) { return static_cast<double>(steps) * kSecondsPerStep + kSecondsAtEnd; }

  void open() {
    const double height = bottom_ + 34;
    const std::string saved = fmt::format("{} nodes in {} kernel calls", report::whole_number(facts_.nodes()),
                                          report::whole_number(facts_.steps()));
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n<title>{2}: {3}</title>\n",
        kSvgWidth, height, report::escaped(facts_.options.title), saved);
    if (animated_) style();
    svg_ += fmt::format("<rect width=\"{}\" height=\"{:.0f}\" rx=\"8\" fill=\"#ffffff\"/>\n", kSvgWidth, height);
    svg_ += fmt::format(
        "<g fill=\"#24292f\"><text x=\"{}\" y=\"28\" font-weight=\"bold\">Inputs as they are written</text><text "
        "x=\"{}\" "
        "y=\"28\" font-weight=\"bold\">Their nodes, step by step</text><text x=\"{}\" y=\"{:.0f}\" "
        "fill=\"#57606a\">Nodes of one colour do the same operation with the same weights, and run as one step: "
        "{}.</text></g>\n",
        kMargin, kBlocks, kMargin, height - 14, saved);
  }

  /// Nodes wait, slide into their step, stay until the end, and go back together.
  void style() {
    const double all = cycle(shown_);
    svg_ += "<style>\n";
    for (std::int64_t s = 0; s < shown_; ++s) {
      const double from = 100 * (static_cast<double>(s) * kSecondsPerStep + 0.5) / all;
      const double to = 100 * (static_cast<double>(s) * kSecondsPerStep + 1.5) / all;
      svg_ += fmt::format(
          "@keyframes m{0}{{0%,{1:.1f}%{{transform:none}}{2:.1f}%,96%{{transform:translate(var(--x),var(--y))}}100%"
          "{{transform:none}}}}.s{0}{{animation:m{0} {3:.1f}s ease-in-out infinite}}\n",
          s, from, to, all);
    }
    svg_ +=
        "@media (prefers-reduced-motion:reduce){[class^=s]{animation:none;transform:translate(var(--x),var(--y))}}\n"
        "</style>\n";
  }

  Spot spot_of(const PictureNode& node) const { return {kMargin + node.x * unit_, kTop + node.y * unit_}; }
  Spot row_of(std::int64_t step, std::int64_t place) const {
    return {kRowsFrom + (static_cast<double>(place) + 0.5) * pitch_,
            kTop + (static_cast<double>(step) + 0.5) * line_ - 6};
  }

  void edges() {
    constexpr int kFan = 6;  // more lines to one node would hide all others
    std::vector<int> lines(facts_.picture.nodes.size(), 0);
    for (const PictureEdge& edge : facts_.picture.edges) ++lines[at(edge.to)];
    for (const bool is_fan : {true, false}) draw_edges(is_fan, [&](std::int32_t to) { return lines[at(to)] > kFan; });
  }

  template <class IsFan>
  void draw_edges(bool fans, const IsFan& is_fan) {
    svg_ += fmt::format("<path fill=\"none\" stroke=\"#aab2bb\" stroke-opacity=\"{}\" stroke-width=\"{:.1f}\" d=\"",
                        fans ? 0.35 : 1.0, std::clamp(unit_ * 0.05, 0.5, 1.5));
    for (const PictureEdge& edge : facts_.picture.edges) {
      if (is_fan(edge.to) != fans) continue;
      const Spot from = spot_of(facts_.picture.nodes[at(edge.from)]);
      const Spot to = spot_of(facts_.picture.nodes[at(edge.to)]);
      svg_ += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", from.x, from.y, to.x, to.y);
    }
    svg_ += "\"/>\n";
  }

  void block(std::int64_t s) {
    const BatchedStep& step = facts_.batches.steps[at(s)];
    const Spot first = row_of(s, 0);
    const double half = std::min(radius_ + 4, line_ / 2 - 1);
    svg_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"5\" fill=\"#f3f5f7\" "
        "stroke=\"#c8d0d8\"/>\n",
        kRowsFrom - 3, first.y - half, pitch_ * static_cast<double>(step.nodes) + 6, 2 * half);
    svg_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" fill=\"#24292f\" font-size=\"{:.0f}\">step {}</text>\n", kBlocks,
                        first.y + 4, std::min(13.0, line_ * 0.75), s + 1);
    const double room = kSvgWidth - kMargin - kRowsFrom - pitch_ * static_cast<double>(step.nodes) - 12;
    const std::string op = facts_.op(step);
    const std::string what = fmt::format("{}: {}", report::clipped(op, 24).text,
                                         step.nodes == 1 ? "1 node" : fmt::format("{} nodes", step.nodes)) +
                             (step.rows == step.nodes ? "" : fmt::format(", {} rows", step.rows));
    if (room > 6.1 * static_cast<double>(what.size()))
      svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"#57606a\" font-size=\"{:.0f}\">{}</text>\n",
                          kRowsFrom + pitch_ * static_cast<double>(step.nodes) + 12, first.y + 4,
                          std::min(13.0, line_ * 0.75), report::escaped(what));
  }

  std::string circle(Spot where, double radius, std::string_view paint) const {
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}/>", where.x, where.y, radius, paint);
  }

  void nodes() {
    for (const PictureNode& node : facts_.picture.nodes) {
      const Spot from = spot_of(node);
      const std::string colour = colour_of_step(node.step, facts_.steps());
      if (node.merged || node.step >= shown_) {
        svg_ +=
            circle(from, radius_ * 0.85, fmt::format("fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"1.6\"", colour));
        svg_ += '\n';
        continue;
      }
      const Spot to = row_of(node.step, place_[at(node.node)]);
      const double small = std::min({radius_, pitch_ / 2 - 0.3, line_ / 2 - 2});
      // In its place it leaves a pale one behind.
      const std::string pale =
          fmt::format("fill=\"{0}\" fill-opacity=\"{1}\" stroke=\"{0}\"", colour, animated_ ? "0.25" : "1");
      svg_ += circle(from, radius_, pale);
      svg_ += number(from, node.step);
      const std::string paint = fmt::format("fill=\"{}\" stroke=\"#24292f\" stroke-width=\"0.6\"", colour);
      if (animated_)
        svg_ += fmt::format("<g class=\"s{}\" style=\"--x:{:.1f}px;--y:{:.1f}px\">{}</g>", node.step, to.x - from.x,
                            to.y - from.y, circle(from, small, paint));
      else
        svg_ += circle(to, small, paint);
      svg_ += '\n';
    }
  }

  /// Of its step, inside a circle that has room for it.
  std::string number(Spot where, std::int64_t step) const {
    if (radius_ < 7) return "";
    return fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"{:.1f}\" fill=\"#10151a\">{}</text>",
        where.x, where.y + radius_ * 0.38, radius_ * 1.05, step + 1);
  }

  void captions() {
    const double size = std::min(13.0, unit_ * 0.9);
    if (size < 6) return;
    for (const PictureInstance& of : facts_.picture.instances) {
      const auto room = static_cast<std::size_t>((of.width + 1.6) * unit_ / (size * 0.52));
      const std::string& whole = of.text.empty() ? of.name : of.text;
      const report::Clipped start = report::clipped(whole, std::max<std::size_t>(room, 3));
      svg_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"{:.1f}\" fill=\"#57606a\">{}{}</text>\n",
          kMargin + (of.x + of.width / 2) * unit_, kTop + (of.y + of.height - 0.5) * unit_, size,
          report::escaped(start.text), start.whole ? "" : "…");
    }
  }

  const PageFacts& facts_;
  bool animated_;
  std::int64_t shown_;
  double unit_ = 1;
  double radius_ = 1;
  double line_ = 1;
  double pitch_ = 1;
  double bottom_ = 0;
  std::int64_t most_nodes_ = 1;
  std::vector<std::int32_t> place_;  // by node: its place in its step, as nodes and not as rows
  std::string svg_;
};

}  // namespace
}  // namespace show

std::string picture_svg(const Graph& graph, bool animated, const PageOptions& options) {
  return show::StepsSvg(show::PageFacts(graph, options, 2.4), animated).text();
}

}  // namespace espalier
