#include "bench/suite/svg.h"

#include <fmt/format.h>

namespace espalier::bench {

Svg::Svg(std::string_view title, double width, double height) {
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n",
      width, height, title);
  rectangle({0, 0}, width, height, "fill=\"#ffffff\"");
}

void Svg::line(Point from, Point to, std::string_view style) {
  text_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x, from.y, to.x,
                       to.y, style);
}

void Svg::polyline(std::span<const Point> points, std::string_view style) {
  std::string places;
  for (const Point& point : points)
    places += fmt::format("{}{:.1f},{:.1f}", places.empty() ? "" : " ", point.x, point.y);
  text_ += fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", places, style);
}

void Svg::rectangle(Point corner, double width, double height, std::string_view style) {
  text_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n", corner.x, corner.y,
                       width, height, style);
}

void Svg::text(Point at, std::string_view text, std::string_view style) {
  text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", at.x, at.y, style, text);
}

void Svg::upright_text(Point at, std::string_view text, std::string_view style) {
  text_ += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" {}>{}</text>\n",
                       at.x, at.y, style, text);
}

void Svg::mark(Mark mark, Point at, std::string_view colour, bool filled) {
  const std::string paint = fmt::format("fill=\"{}\" stroke=\"{}\"", filled ? colour : "#ffffff", colour);
  switch (mark) {
    case Mark::kCircle:
      text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" {}/>\n", at.x, at.y, paint);
      break;
    case Mark::kSquare: rectangle({at.x - 3, at.y - 3}, 6, 6, paint); break;
    case Mark::kTriangle:
      text_ += fmt::format("<path d=\"M{:.1f} {:.1f} l4 7 h-8 z\" {}/>\n", at.x, at.y - 4, paint);
      break;
    case Mark::kDiamond:
      text_ +=
          fmt::format("<path d=\"M{:.1f} {:.1f} l4.5 4.5 l-4.5 4.5 l-4.5 -4.5 z\" {}/>\n", at.x, at.y - 4.5, paint);
      break;
  }
}

}  // namespace espalier::bench
