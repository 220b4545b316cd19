#include "espalier/train/batches.h"

#include <fmt/format.h>

#include <numeric>

#include "espalier/base/error.h"
#include "espalier/base/random.h"

namespace espalier {

std::vector<std::size_t> batch_order(std::size_t size, const BatchOptions& options) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options.shuffle) Random(options.seed, static_cast<std::uint64_t>(options.epoch)).shuffle(std::span(order));
  return order;
}

std::size_t batch_count(std::size_t size, std::int64_t batch_size, const BatchOptions& options) {
  if (batch_size < 1) throw UsageError(fmt::format("batches: the batch size must be at least 1, not {}", batch_size));
  const auto each = static_cast<std::size_t>(batch_size);
  return size / each + (options.drop_last || size % each == 0 ? 0 : 1);
}

}  // namespace espalier
