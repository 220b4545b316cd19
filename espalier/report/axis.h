/// An axis: maps numbers to positions and chooses the ticks.
#pragma once

#include <string>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::report {

enum class Scale { kLinear, kLog };

class Axis {
 public:
  /// Maps `low` to `begin` and `high` to `end`. For kLog both are above 0. `end` may be smaller than `begin`.
  ESPALIER_EXPORT Axis(Scale scale, double low, double high, double begin, double end);
  /// If low and high are equal, everything is in the middle.
  ESPALIER_EXPORT double place(double value) const;

  /// Round numbers within the range, ascending. On a logarithmic axis powers of ten, or multiples of them if there are
  /// too few; on a linear one multiples of 1, 2 or 5 times a power of ten: at most `most` of them.
  ESPALIER_EXPORT std::vector<double> ticks(int most = 6) const;

 private:
  std::vector<double> log_ticks() const;
  std::vector<double> linear_ticks(int most) const;

  Scale scale_;
  double low_;
  double high_;
  double begin_;
  double end_;
};

/// "0", "0.5", "20", "5k", "2M", "1e-07".
ESPALIER_EXPORT std::string tick_text(double value);

}  // namespace espalier::report
