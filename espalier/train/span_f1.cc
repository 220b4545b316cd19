#include "espalier/train/span_f1.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace espalier::train {

void SpanF1::add(std::span<const Span> expected, std::span<const Span> predicted) {
  std::vector<Span> want(expected.begin(), expected.end());
  std::vector<Span> got(predicted.begin(), predicted.end());
  std::sort(want.begin(), want.end());
  std::sort(got.begin(), got.end());
  std::vector<Span> right;
  std::set_intersection(want.begin(), want.end(), got.begin(), got.end(), std::back_inserter(right));
  for (const Span& span : want) ++by_type_[span.type].expected;
  for (const Span& span : got) ++by_type_[span.type].predicted;
  for (const Span& span : right) ++by_type_[span.type].right;
}

SpanCounts SpanF1::all() const {
  SpanCounts sum;
  for (const auto& [type, counts] : by_type_) {
    sum.right += counts.right;
    sum.expected += counts.expected;
    sum.predicted += counts.predicted;
  }
  return sum;
}

}  // namespace espalier::train
