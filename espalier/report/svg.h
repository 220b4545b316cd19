/// The shapes of a picture, as SVG text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier::report {

struct Point {
  double x = 0;
  double y = 0;
};

enum class Mark { kCircle, kSquare, kTriangle, kDiamond };

/// Later shapes cover earlier ones. `style` has further attributes, as in R"(fill="#444444")" or R"(class="grid")"; it
/// is written as it is, while texts are escaped.
class ESPALIER_EXPORT Svg {
 public:
  /// A picture that stands alone: black on white, with a title.
  Svg(std::string_view title, double width, double height);
  /// A picture inside of a page, without a background; `attributes` go to its <svg>.
  static Svg within_page(double width, double height, std::string_view attributes);

  void line(Point from, Point to, std::string_view style);
  void polyline(std::span<const Point> points, std::string_view style);
  void rectangle(Point corner, double width, double height, std::string_view style);
  void circle(Point centre, double radius, std::string_view style);
  void text(Point at, std::string_view text, std::string_view style = {});
  /// Text that runs upwards, centred at the point.
  void upright_text(Point at, std::string_view text, std::string_view style = {});
  void mark(Mark mark, Point at, std::string_view colour, bool filled);
  /// The same, with all of its paint in `style`.
  void mark(Mark mark, Point at, std::string_view style);

  /// Shapes until end_group() share the attributes.
  void begin_group(std::string_view style);
  void end_group();
  /// What a pointer over the group that was begun last shows, and screen readers say.
  void hint(std::string_view text);

  std::string finish() const { return text_ + "</svg>\n"; }

 private:
  Svg() = default;
  std::string text_;
};

}  // namespace espalier::report
