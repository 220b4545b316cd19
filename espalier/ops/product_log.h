/// ProductLog: while one lives, the products with weights that its thread computes are counted and timed, by their
/// sizes. For profiles, and for timing the same products alone.
///
/// Thread safety: a log belongs to the thread that made it; products that other threads compute for it are not seen, so
/// that it tells the whole with one thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::ops {

enum class ProductKind : std::int32_t {
  kForward,         // [rows, k] by [k, m]
  kInputGradient,   // [rows, m] by the transpose of [k, m]
  kWeightGradient,  // the transpose of [rows, k] by [rows, m]
};

/// What a product is, but for its numbers.
struct Product {
  ProductKind kind{};
  std::int64_t rows = 0;
  std::int64_t k = 0;
  std::int64_t m = 0;
  bool prepared = false;    // with weights laid out before
  bool bias = false;        // added to every row
  bool accumulate = false;  // added to what is there

  bool operator==(const Product&) const = default;
};

/// What is done for products and is none.
enum class BesideProducts : std::int32_t {
  kPreparing,  // laying weights out
  kGathering,  // bringing rows side by side, and putting results where they belong
};

struct ProductCalls {
  Product product;
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
  /// No part of seconds().
  double seconds_beside(BesideProducts what) const { return beside_[static_cast<std::size_t>(what)].seconds; }
  std::int64_t calls_beside(BesideProducts what) const { return beside_[static_cast<std::size_t>(what)].calls; }

  /// Times one product, or something beside products; does nothing where no log lives.
  class Watch {
   public:
    explicit Watch(const Product& product) : what_(product), started_(current() != nullptr ? now() : 0) {}
    explicit Watch(BesideProducts what) : what_(what), started_(current() != nullptr ? now() : 0) {}
    ~Watch() {
      if (current() != nullptr) finish();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    static double now();
    void finish();
    std::variant<Product, BesideProducts> what_;
    double started_;
  };

 private:
  static ProductLog*& current();
  void add(const Product& product, double seconds);

  struct Beside {
    std::int64_t calls = 0;
    double seconds = 0;
  };

  ProductLog* before_;  // logs may lie within each other
  double seconds_ = 0;
  std::array<Beside, 2> beside_{};
  std::vector<ProductCalls> products_;
};

}  // namespace espalier::ops
