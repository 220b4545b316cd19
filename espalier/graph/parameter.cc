#include "espalier/graph/parameter.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/kernels/prepared.h"
#include "espalier/kernels/small_product.h"

namespace espalier {
namespace {

/// Whether a matrix is ever laid out. A small one is multiplied fastest as it is, and only its transpose is worth a
/// copy; a single column is its own transpose. Larger ones of few columns are multiplied as fast as they are.
bool is_worth_it(std::int64_t k, std::int64_t n, bool transposed) {
  if (kernels::is_small_matrix(k, n)) return transposed && n > 1;
  return k >= 16 && n >= 16;
}

/// From so many rows on, laying a matrix out costs less than it gains (`bench/products`; 300 x 750, AVX-512). As it is,
/// a matrix is multiplied by many rows as fast, by few slower; its transpose at half the speed up to 16 rows; and a
/// matrix that is larger than the cache profits most.
std::int64_t least_rows(std::int64_t k, std::int64_t n, bool transposed, bool training) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 18;
  if (kernels::is_small_matrix(k, n)) return 16;
  if (transposed || k * n >= kLarge) return 64;
  return training ? std::numeric_limits<std::int64_t>::max() : 512;
}

/// Of a matrix.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  bool operator==(const RowRange&) const = default;
};

}  // namespace

/// Layouts of one parameter: of the whole, of its transpose, and of the transposes of some of its rows.
class Parameter::Layouts {
 public:
  ~Layouts() {
    for (const Part* part = parts_.load(); part != nullptr;) delete std::exchange(part, part->next);
  }

  /// Of rows `begin` to `begin` + k - 1 of numbers that begin at `data`; not transposed, they are all rows.
  const kernels::Prepared* get(const float* data, std::uint64_t version, RowRange rows, std::int64_t n, bool whole,
                               bool transposed, const WeightUse& use) {
    Layout& layout = whole ? whole_[transposed ? 1 : 0] : part(rows);
    const bool is_ready = layout.made_for.load(std::memory_order_acquire) == version + 1;
    if (is_ready && !use.training) return &layout.matrix;
    const std::int64_t least = least_rows(rows.count, n, transposed, use.training);
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
        layout.matrix.assign_transposed(n, rows.count, data + rows.begin * n, n);
      else
        layout.matrix.assign(rows.count, n, data, n);
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
  struct Part : Layout {
    RowRange rows;
    Part* next = nullptr;
  };

  Part* find(RowRange rows) const {
    Part* part = parts_.load(std::memory_order_acquire);
    while (part != nullptr && part->rows != rows) part = part->next;
    return part;
  }
  /// Few are ever asked for, and none is given up.
  Part& part(RowRange rows) {
    if (Part* known = find(rows)) return *known;
    const std::lock_guard lock(mutex_);
    if (Part* known = find(rows)) return *known;
    auto made = std::make_unique<Part>();
    made->rows = rows;
    made->next = parts_.load(std::memory_order_relaxed);
    parts_.store(made.get(), std::memory_order_release);
    return *made.release();
  }

  std::mutex mutex_;
  std::array<Layout, 2> whole_;
  std::atomic<Part*> parts_{nullptr};
};

std::uint64_t new_uid() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Parameter::Parameter(std::string name, Tensor value)
    : name_(std::move(name)), value_(std::move(value)), uid_(new_uid()), layouts_(std::make_unique<Layouts>()) {}

Parameter::~Parameter() = default;

void DestroyParameter::operator()(Parameter* parameter) const noexcept {
  // Graphs find a parameter by its uid and compare its version before they read its numbers: neither matches again.
  parameter->uid_ = 0;
  parameter->version_.store(std::numeric_limits<std::uint64_t>::max(), std::memory_order_relaxed);
  parameter->gradients = nullptr;
  parameter->layouts_.reset();
  const Tensor freed = std::move(parameter->value_);  // its shape and element type stay
  // Never freed. The list keeps the objects reachable, so that leak checkers know of them.
  static std::atomic<Parameter*> newest{nullptr};
  parameter->next_destroyed_ = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(parameter->next_destroyed_, parameter, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

const kernels::Prepared* Parameter::prepared(std::int64_t k, std::int64_t n, bool transposed,
                                             const WeightUse& use) const {
  if (!is_worth_it(k, n, transposed) || value_.dtype() != DType::kFloat32 || k * n != value_.shape().elements())
    return nullptr;
  return layouts_->get(value_.as<float>().data(), version(), {0, k}, n, /*whole=*/true, transposed, use);
}

const kernels::Prepared* Parameter::prepared_rows(std::int64_t begin, std::int64_t k, std::int64_t n,
                                                  const WeightUse& use) const {
  if (!is_worth_it(k, n, /*transposed=*/true) || value_.dtype() != DType::kFloat32) return nullptr;
  return layouts_->get(value_.as<float>().data(), version(), {begin, k}, n, /*whole=*/false, /*transposed=*/true, use);
}

void Parameter::replace_value(Tensor value) {
  if (value.shape() != shape())
    throw UsageError(fmt::format("parameter \"{}\" has shape {}, and {} was given", name_, shape().to_string(),
                                 value.shape().to_string()));
  value_ = std::move(value);
  count_change();
}

}  // namespace espalier
