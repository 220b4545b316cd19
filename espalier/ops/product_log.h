/// ProductLog: while one lives, the products with weights that its thread computes are counted and timed, by their
/// sizes. For profiles, and for timing the same products alone.
///
/// Thread safety: a log belongs to the thread that made it; products that other threads compute for it are not seen, so
/// that it tells the whole with one thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::ops {

enum class ProductKind : std::int32_t {
  kForward,         // [rows, k] by [k, m]
  kInputGradient,   // [rows, m] by the transpose of [k, m]
  kWeightGradient,  // the transpose of [rows, k] by [rows, m]
};

struct ProductCalls {
  ProductKind kind{};
  std::int64_t rows = 0;
  std::int64_t k = 0;
  std::int64_t m = 0;
  bool prepared = false;  // with weights laid out before
  std::int64_t calls = 0;
  double seconds = 0;
};

class ESPALIER_EXPORT ProductLog {
 public:
  ProductLog();
  ~ProductLog();
  ProductLog(const ProductLog&) = delete;
  ProductLog& operator=(const ProductLog&) = delete;

  /// Those of all products so far.
  double seconds() const { return seconds_; }
  /// One entry for each kind and size.
  const std::vector<ProductCalls>& products() const { return products_; }

  /// Times one product; does nothing where no log lives.
  class Watch {
   public:
    Watch(ProductKind kind, std::int64_t rows, std::int64_t k, std::int64_t m, bool prepared)
        : call_{kind, rows, k, m, prepared, 1, 0}, started_(current() != nullptr ? now() : 0) {}
    ~Watch() {
      if (current() != nullptr) finish();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    static double now();
    void finish();
    ProductCalls call_;
    double started_;
  };

 private:
  static ProductLog*& current();
  void add(const ProductCalls& call);

  ProductLog* before_;  // logs may lie within each other
  double seconds_ = 0;
  std::vector<ProductCalls> products_;
};

}  // namespace espalier::ops
