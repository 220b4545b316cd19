/// Charts for pages: pictures with values on hover and by the arrow keys, and the same numbers as a table.
///
/// The pictures take colours and fonts from the page (report/page_style.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/report/svg.h"

namespace espalier::report {

/// One line of a chart. Points are in order of x; those that are not finite are left out.
struct Series {
  std::string name;
  std::vector<Point> points;
  /// A thin line without marks behind the others, whose values are not in the table: for many noisy values.
  bool is_faint = false;
  /// Chooses colour and mark. Series of one colour belong together.
  std::size_t colour = 0;
};

struct LineChart {
  std::string title;
  std::string x_name;
  /// What the y axis shows, for screen readers and the table.
  std::string y_name;
  std::vector<Series> series;
  /// A vertical line that marks one x, and what it is called.
  std::optional<double> marked_x;
  std::string mark_name;
};

/// A <figure> with the picture and, folded away, the table. Draws at most 400 points of a line, each the mean of its
/// neighbours, and lists at most 200 rows; the table says so. "" if no series has a finite point.
ESPALIER_EXPORT std::string chart_html(const LineChart& chart);

/// A point for which a model's answer is compared with the right one.
struct ScatterPoint {
  double expected = 0;
  double predicted = 0;
  std::string name;  // such as "instance 7"
};

struct Scatter {
  std::string title;
  std::vector<ScatterPoint> points;
};

/// A <figure> with predicted against expected values and the diagonal where they are equal. If all values are above 0
/// and the largest is more than 1000 times the smallest, both axes are logarithmic. Draws at most 1500 points, evenly
/// chosen, and always the 20 with the largest distance from the diagonal; says so below. "" without a finite point.
ESPALIER_EXPORT std::string scatter_html(const Scatter& scatter);

}  // namespace espalier::report
