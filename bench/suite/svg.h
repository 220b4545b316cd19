/// The few shapes that a plot is made of, as SVG text.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace espalier::bench {

struct Point {
  double x = 0;
  double y = 0;
};

enum class Mark { kCircle, kSquare, kTriangle, kDiamond };

/// Shapes are drawn one over the other. `style` are further attributes, as in R"(fill="#444444")".
class Svg {
 public:
  Svg(std::string_view title, double width, double height);

  void line(Point from, Point to, std::string_view style);
  void polyline(std::span<const Point> points, std::string_view style);
  void rectangle(Point corner, double width, double height, std::string_view style);
  void text(Point at, std::string_view text, std::string_view style = {});
  /// Upwards, with its middle there.
  void upright_text(Point at, std::string_view text, std::string_view style = {});
  void mark(Mark mark, Point at, std::string_view colour, bool filled);

  std::string finish() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

}  // namespace espalier::bench
