#include "bench/limit/table.h"

#include <algorithm>
#include <cstddef>

#include "espalier/kernels/rows.h"

namespace espalier::bench {

void Table::gather(std::span<const std::int32_t> rows, float* to) const {
  kernels::gather_rows(values_->values.data(), width(), rows, to);
}

void Table::scatter(std::span<const std::int32_t> rows, std::span<const std::int32_t> places, std::int64_t begin,
                    std::int64_t end, float* to) const {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
    std::copy_n(values_->values.data() + rows[i] * width(), width(), to + places[i] * width());
}

void Table::add_gradients(std::span<const std::int32_t> rows, const float* gradients, std::int64_t begin,
                          std::int64_t end) const {
  const auto columns = static_cast<std::size_t>(end - begin);
  float* target = values_->target() + begin;
  for (std::size_t i = 0; i < rows.size(); ++i)
    kernels::add({gradients + static_cast<std::int64_t>(i) * width() + begin, columns},
                 {target + rows[i] * width(), columns});
}

void Table::add_gradients(std::span<const std::int32_t> rows, std::span<const std::int32_t> places,
                          const float* gradients, std::int64_t begin, std::int64_t end) const {
  const auto columns = static_cast<std::size_t>(end - begin);
  float* target = values_->target() + begin;
  for (std::size_t i = 0; i < rows.size(); ++i)
    kernels::add({gradients + places[i] * width() + begin, columns}, {target + rows[i] * width(), columns});
}

}  // namespace espalier::bench
