/// batches(): a data set in shuffled batches.
///
///   for (int epoch = 0; epoch < 10; ++epoch)
///     for (const auto& batch : esp::batches(sentences, 32, {.seed = 7, .epoch = epoch})) {
///       esp::Graph g;
///       for (const Sentence& sentence : batch) ...
///     }
///
/// The order depends only on the size of the data set, the seed and the epoch. Each epoch has its own order, and every
/// element is in exactly one batch of it.
///
/// Thread safety: like a std::vector; the data are not copied and must outlive the batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "espalier/base/export.h"

namespace espalier {

struct BatchOptions {
  std::uint64_t seed = 0;
  /// Number of the pass over the data: each has an order of its own.
  std::int64_t epoch = 0;
  /// If false, elements come in their own order.
  bool shuffle = true;
  /// Skips the last batch if it is smaller than the others.
  bool drop_last = false;
};

/// The numbers 0 to size - 1 in the order in which batches() takes them.
ESPALIER_EXPORT std::vector<std::size_t> batch_order(std::size_t size, const BatchOptions& options = {});

/// One batch: a range of elements of the data set.
template <class T>
class Batch {
 public:
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const T* data, const std::size_t* place) : data_(data), place_(place) {}
    const T& operator*() const { return data_[*place_]; }
    const T* operator->() const { return data_ + *place_; }
    Iterator& operator++() {
      ++place_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++place_;
      return before;
    }
    bool operator==(const Iterator& other) const { return place_ == other.place_; }

   private:
    const T* data_ = nullptr;
    const std::size_t* place_ = nullptr;
  };

  Batch(const T* data, std::span<const std::size_t> places) : data_(data), places_(places) {}
  std::size_t size() const { return places_.size(); }
  const T& operator[](std::size_t i) const { return data_[places_[i]]; }
  /// Where its elements are in the data set.
  std::span<const std::size_t> places() const { return places_; }
  Iterator begin() const { return {data_, places_.data()}; }
  Iterator end() const { return {data_, places_.data() + places_.size()}; }

 private:
  const T* data_;
  std::span<const std::size_t> places_;
};

/// All batches of one epoch.
template <class T>
class Batches {
 public:
  class Iterator {
   public:
    using value_type = Batch<T>;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const Batches* of, std::size_t number) : of_(of), number_(number) {}
    Batch<T> operator*() const { return (*of_)[number_]; }
    Iterator& operator++() {
      ++number_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++number_;
      return before;
    }
    bool operator==(const Iterator& other) const { return number_ == other.number_; }

   private:
    const Batches* of_ = nullptr;
    std::size_t number_ = 0;
  };

  Batches(std::span<const T> data, std::vector<std::size_t> order, std::size_t batch_size, std::size_t count)
      : data_(data), order_(std::move(order)), batch_size_(batch_size), count_(count) {}

  /// How many batches there are.
  std::size_t size() const { return count_; }
  Batch<T> operator[](std::size_t number) const {
    const std::size_t begin = number * batch_size_;
    const std::size_t size = begin + batch_size_ <= order_.size() ? batch_size_ : order_.size() - begin;
    return {data_.data(), {order_.data() + begin, size}};
  }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, count_}; }

 private:
  std::span<const T> data_;
  std::vector<std::size_t> order_;
  std::size_t batch_size_;
  std::size_t count_;
};

/// How many batches of `batch_size` there are. Refuses (UsageError) a batch size below 1.
ESPALIER_EXPORT std::size_t batch_count(std::size_t size, std::int64_t batch_size, const BatchOptions& options = {});

template <class T>
Batches<T> batches(std::span<const T> data, std::int64_t batch_size, const BatchOptions& options = {}) {
  const std::size_t count = batch_count(data.size(), batch_size, options);
  return {data, batch_order(data.size(), options), static_cast<std::size_t>(batch_size), count};
}
template <class T>
Batches<T> batches(const std::vector<T>& data, std::int64_t batch_size, const BatchOptions& options = {}) {
  return batches(std::span<const T>(data), batch_size, options);
}
/// The data would be gone before the first batch.
template <class T>
Batches<T> batches(const std::vector<T>&& data, std::int64_t batch_size, const BatchOptions& options = {}) = delete;

}  // namespace espalier
