/// Programs over many instances: results of a stream, and gradients of a minibatch, in batches and threads.
///
///   for (const InstanceResult& result : stream(program, sentences)) show(result, result.metric("scores"));
///
/// Instances are taken `batch` at a time, each batch on a graph of its own, which several threads may work on at once.
/// What is computed depends on `batch` and not on the number of threads: the bits are those of one thread. Results come
/// in the order of the instances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/blocks/program.h"
#include "espalier/exec/gradients.h"

namespace espalier::blocks {

struct StreamOptions {
  /// Instances a graph.
  std::int32_t batch = 64;
  /// Graphs at once, by the threads of the process; 0: as many as there are.
  std::int32_t threads = 1;
  GraphOptions graph = {.training = false};
  /// Instance i has the key first_key + i, and that number in messages.
  std::uint64_t first_key = 0;
};

/// Results in order. Where an instance is refused, those of the batches before its own, and what was thrown.
struct Computed {
  std::vector<InstanceResult> results;
  std::exception_ptr failure;
};
ESPALIER_EXPORT Computed compute(const Program& program, const std::vector<const void*>& inputs,
                                 const StreamOptions& options, std::int64_t first);
/// How many instances compute() should be given at a time.
ESPALIER_EXPORT std::int64_t instances_at_once(const StreamOptions& options);

/// Results one by one; no more instances are taken from the range, and kept, than are computed at once. Inputs is a
/// reference to a range that outlives the stream, or the range itself.
template <class Inputs>
class Stream {
 public:
  Stream(Program program, Inputs&& inputs, const StreamOptions& options)
      : program_(std::move(program)), inputs_(std::forward<Inputs>(inputs)), options_(options) {}

  class Iterator {
   public:
    using value_type = InstanceResult;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    explicit Iterator(Stream& stream) : stream_(&stream) { stream_->refill(); }
    const InstanceResult& operator*() const { return stream_->results_[stream_->next_]; }
    Iterator& operator++() {
      if (++stream_->next_ == stream_->results_.size()) stream_->refill();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return stream_->results_.empty(); }

   private:
    Stream* stream_;
  };

  /// Once.
  Iterator begin() {
    options_.graph = options_.graph.for_one_step();  // keys tell its instances apart
    at_.emplace(std::begin(inputs_));
    return Iterator(*this);
  }
  static std::default_sentinel_t end() { return {}; }

 private:
  using Position = decltype(std::begin(std::declval<Inputs&>()));
  using Reference = decltype(*std::declval<Position&>());
  // Inputs in memory stay there. Inputs that the range makes on the way are kept while they are needed.
  static constexpr bool kLies = std::is_lvalue_reference_v<Reference> && std::forward_iterator<Position>;
  using Kept = std::conditional_t<kLies, const std::remove_reference_t<Reference>*, std::remove_cvref_t<Reference>>;

  void refill() {
    results_.clear();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    kept_.clear();
    next_ = 0;
    const auto most = static_cast<std::size_t>(instances_at_once(options_));
    for (; kept_.size() < most && *at_ != std::end(inputs_); ++*at_) {
      if constexpr (kLies)
        kept_.push_back(&**at_);
      else
        kept_.push_back(**at_);
    }
    if (kept_.empty()) return;
    std::vector<const void*> addresses;
    for (const Kept& kept : kept_) {
      if constexpr (kLies)
        addresses.push_back(program_.address(*kept));
      else
        addresses.push_back(program_.address(kept));
    }
    Computed computed = compute(program_, addresses, options_, first_);
    first_ += static_cast<std::int64_t>(kept_.size());
    if (computed.failure && computed.results.empty()) std::rethrow_exception(computed.failure);
    results_ = std::move(computed.results);
    failure_ = computed.failure;
  }

  Program program_;
  Inputs inputs_;
  StreamOptions options_;
  std::optional<Position> at_;
  std::vector<Kept> kept_;
  std::vector<InstanceResult> results_;
  std::exception_ptr failure_;  // of the instances after these results
  std::size_t next_ = 0;
  std::int64_t first_ = 0;
};

/// stream(program, inputs, options) : the results of a range or generator, computed lazily.
/// Type: any
/// Meaning: a range of InstanceResults, for a single pass, in the order of the inputs. Each has the metrics and taps of
/// its instance. An input that the range makes lives until the next result is taken.
/// Example: for (const Result& result : stream(program, sentences)) show(result);
/// Errors: those of Program; those of the data, after the results of all batches before.
template <class Inputs>
requires detail::Iterable<std::remove_reference_t<Inputs>> Stream<Inputs> stream(Program program, Inputs&& inputs,
                                                                                 const StreamOptions& options = {}) {
  return {std::move(program), std::forward<Inputs>(inputs), options};
}

ESPALIER_EXPORT double add_gradients_of(const Program& program, const std::vector<const void*>& inputs, Gradients& to,
                                        const StreamOptions& options);

/// add_gradients(program, inputs, gradients, options) : adds the gradients of a minibatch, computed in several graphs.
/// Type: any, with loss() blocks
/// Meaning: differentiates the loss of Program::loss(), in graphs of options.batch instances, adds the gradients in
/// order, and returns the loss. For dropout, set `training` in options.graph; the minibatch is one step
/// (GraphOptions::step).
/// Example: const double loss = add_gradients(trained, sentences, model.gradients(), {.batch = 16});
/// Errors: those of Program::loss(), and of the data.
template <detail::Iterable Inputs>
double add_gradients(const Program& program, const Inputs& inputs, Gradients& to, const StreamOptions& options) {
  std::vector<const void*> addresses;
  for (const auto& input : inputs) addresses.push_back(program.address(input));
  return add_gradients_of(program, addresses, to, options);
}

}  // namespace espalier::blocks
