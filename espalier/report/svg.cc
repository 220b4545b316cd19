#include "espalier/report/svg.h"

#include <fmt/format.h>

#include "espalier/report/html.h"

namespace espalier::report {

Svg::Svg(std::string_view title, double width, double height) {
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n",
      width, height, escaped(title));
  rectangle({0, 0}, width, height, "fill=\"#ffffff\"");
}

Svg Svg::within_page(double width, double height, std::string_view attributes) {
  Svg svg;
  svg.text_ = fmt::format("<svg viewBox=\"0 0 {} {}\" {}>\n", width, height, attributes);
  return svg;
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

void Svg::circle(Point centre, double radius, std::string_view style) {
  text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" {}/>\n", centre.x, centre.y, radius, style);
}

void Svg::text(Point at, std::string_view text, std::string_view style) {
  text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", at.x, at.y, style, escaped(text));
}

void Svg::upright_text(Point at, std::string_view text, std::string_view style) {
  text_ += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" {}>{}</text>\n",
                       at.x, at.y, style, escaped(text));
}

void Svg::mark(Mark mark, Point at, std::string_view colour, bool filled) {
  this->mark(mark, at, fmt::format("fill=\"{}\" stroke=\"{}\"", filled ? colour : "#ffffff", colour));
}

void Svg::mark(Mark mark, Point at, std::string_view style) {
  switch (mark) {
    case Mark::kCircle: circle(at, 3.5, style); break;
    case Mark::kSquare: rectangle({at.x - 3, at.y - 3}, 6, 6, style); break;
    case Mark::kTriangle:
      text_ += fmt::format("<path d=\"M{:.1f} {:.1f} l4 7 h-8 z\" {}/>\n", at.x, at.y - 4, style);
      break;
    case Mark::kDiamond:
      text_ +=
          fmt::format("<path d=\"M{:.1f} {:.1f} l4.5 4.5 l-4.5 4.5 l-4.5 -4.5 z\" {}/>\n", at.x, at.y - 4.5, style);
      break;
  }
}

void Svg::begin_group(std::string_view style) { text_ += fmt::format("<g {}>\n", style); }

void Svg::end_group() { text_ += "</g>\n"; }

void Svg::hint(std::string_view text) { text_ += fmt::format("<title>{}</title>\n", escaped(text)); }

}  // namespace espalier::report
