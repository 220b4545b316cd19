/// Watch: where a limit's time goes, how much its products multiply, and the products themselves, to be timed alone.
///
/// Thread safety: one thread at a time; each thread of a minibatch has one of its own.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace espalier::bench {

enum class Part : std::int32_t {
  kLayout,       // where every row of the minibatch lies
  kProducts,     // of matrices
  kLoops,        // gates, losses, rows of tables: all that is computed and is no product
  kUpdate,       // of weights, where it is no part of the product that makes the gradient
  kPreparation,  // of weights for products
};
inline constexpr std::size_t kParts = 5;

class Watch {
 public:
  struct Product {
    std::int64_t m, n, k;  // [m, k] by [k, n]
    std::function<void()> run;
  };

  /// From here on, until the first lap.
  void start() {
    if (on_) since_ = Clock::now();
  }
  /// The time since the start or the last lap belongs to `part`.
  void lap(Part part) {
    if (!on_) return;
    const Clock::time_point now = Clock::now();
    seconds_[static_cast<std::size_t>(part)] += std::chrono::duration<double>(now - since_).count();
    since_ = now;
  }
  /// A product of these sizes: `run` would do it again, on the same memory.
  template <class Run>
  void product(std::int64_t m, std::int64_t n, std::int64_t k, const Run& run) {
    if (!on_) return;
    flops_ += 2 * m * n * k;
    if (keeps_products_) products_.push_back({m, n, k, run});
  }

  /// With `keep_products`, the products from here on can be had from products().
  void set(bool on, bool keep_products) {
    *this = Watch();
    on_ = on;
    keeps_products_ = keep_products;
  }
  double seconds(Part part) const { return seconds_[static_cast<std::size_t>(part)]; }
  std::int64_t flops() const { return flops_; }
  const std::vector<Product>& products() const { return products_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool on_ = false;
  bool keeps_products_ = false;
  Clock::time_point since_;
  std::array<double, kParts> seconds_{};
  std::int64_t flops_ = 0;
  std::vector<Product> products_;
};

}  // namespace espalier::bench
