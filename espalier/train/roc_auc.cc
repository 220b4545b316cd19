#include "espalier/train/roc_auc.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/train/answer_pairs.h"
#include "espalier/train/ranks.h"

namespace espalier::train {

double roc_auc(std::span<const double> labels, std::span<const double> scores) {
  std::vector<double> known_scores;
  std::vector<bool> positive;
  for_each_pair("roc_auc", labels, scores, [&](double label, double score) {
    if (label != 0 && label != 1)
      throw UsageError(fmt::format("roc_auc: a label of 0 or 1 is expected, and it is {}", label));
    known_scores.push_back(score);
    positive.push_back(label == 1);
  });
  // The rank sum of the positives (Mann and Whitney, 1947).
  const std::vector<double> rank = ranks(known_scores);
  double sum = 0;
  double positives = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    if (!positive[i]) continue;
    sum += rank[i];
    ++positives;
  }
  const double negatives = static_cast<double>(rank.size()) - positives;
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  return (sum - positives * (positives + 1) / 2) / (positives * negatives);
}

}  // namespace espalier::train
