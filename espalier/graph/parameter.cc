#include "espalier/graph/parameter.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/kernels/prepared.h"

namespace espalier {
namespace {

/// From so many rows on, laying a matrix out costs less than it gains (`bench/products`; 300 x 750, AVX-512). As it is,
/// a matrix is multiplied by many rows as fast, by few slower; its transpose at half the speed up to 16 rows; and a
/// matrix that is larger than the cache profits most.
std::int64_t least_rows(std::int64_t k, std::int64_t n, bool transposed, bool training) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 18;
  if (transposed || k * n >= kLarge) return 64;
  return training ? std::numeric_limits<std::int64_t>::max() : 512;
}
/// Smaller ones, and those of few columns, are multiplied faster as they are.
bool is_worth_it(std::int64_t k, std::int64_t n) { return k >= 16 && n >= 16 && k * n >= 64 * 64; }

}  // namespace

class Parameter::Layouts {
 public:
  const kernels::Prepared* get(const float* data, std::uint64_t version, std::int64_t k, std::int64_t n,
                               bool transposed, const WeightUse& use) {
    Layout& layout = layouts_[transposed ? 1 : 0];
    const bool is_ready = layout.made_for.load(std::memory_order_acquire) == version + 1;
    if (is_ready && !use.training) return &layout.matrix;
    const std::int64_t least = least_rows(k, n, transposed, use.training);
    if (use.rows_to_come < least) {
      if (use.training) return nullptr;
      if (layout.seen_for.exchange(version + 1, std::memory_order_relaxed) != version + 1)
        layout.rows_seen.store(0, std::memory_order_relaxed);
      if (layout.rows_seen.fetch_add(use.rows_to_come, std::memory_order_relaxed) < least) return nullptr;
    }
    if (is_ready) return &layout.matrix;
    const std::lock_guard lock(mutex_);
    if (layout.made_for.load(std::memory_order_relaxed) != version + 1) {
      if (transposed)
        layout.matrix.assign_transposed(n, k, data, n);
      else
        layout.matrix.assign(k, n, data, n);
      layout.made_for.store(version + 1, std::memory_order_release);
    }
    return &layout.matrix;
  }

 private:
  struct Layout {
    kernels::Prepared matrix;
    std::atomic<std::uint64_t> made_for{0};  // one more than the version of the value
    std::atomic<std::uint64_t> seen_for{0};  // likewise, of the rows below
    std::atomic<std::int64_t> rows_seen{0};
  };
  std::mutex mutex_;
  std::array<Layout, 2> layouts_;
};

std::uint64_t new_uid() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Parameter::Parameter(std::string name, Tensor value)
    : name_(std::move(name)), value_(std::move(value)), uid_(new_uid()), layouts_(std::make_unique<Layouts>()) {}

Parameter::~Parameter() = default;

const kernels::Prepared* Parameter::prepared(std::int64_t k, std::int64_t n, bool transposed,
                                             const WeightUse& use) const {
  if (!is_worth_it(k, n) || value_.dtype() != DType::kFloat32 || k * n != value_.shape().elements()) return nullptr;
  return layouts_->get(value_.as<float>().data(), version_, k, n, transposed, use);
}

void Parameter::replace_value(Tensor value) {
  if (value.shape() != shape())
    throw UsageError(fmt::format("parameter \"{}\" has shape {}, and {} was given", name_, shape().to_string(),
                                 value.shape().to_string()));
  value_ = std::move(value);
  ++version_;
}

}  // namespace espalier
