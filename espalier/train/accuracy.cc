#include "espalier/train/accuracy.h"

#include "espalier/train/answer_pairs.h"

namespace espalier::train {

double accuracy(std::span<const double> expected, std::span<const double> predicted) {
  std::int64_t right = 0;
  const std::int64_t count =
      for_each_pair("accuracy", expected, predicted, [&](double want, double got) { right += want == got ? 1 : 0; });
  return count == 0 ? 0 : static_cast<double>(right) / static_cast<double>(count);
}

}  // namespace espalier::train
