/// A logarithmic axis: where a number lies, and which numbers are named.
#pragma once

#include <string>
#include <vector>

namespace espalier::bench {

class LogAxis {
 public:
  /// From `low` to `high`, both above 0, lie from `begin` to `end`, which may be the smaller one.
  LogAxis(double low, double high, double begin, double end);
  double place(double value) const;

  /// Round numbers within the range: powers of ten, or multiples of them where there are few of those.
  std::vector<double> ticks() const;

 private:
  double low_;
  double high_;
  double begin_;
  double end_;
};

/// "0.5", "20", "5k", "2M".
std::string tick_text(double value);

}  // namespace espalier::bench
