/// Dropout, with masks that are a function of a counter: seed, training step, instance, number of the op within it, and
/// element. So they depend neither on the order of computation nor on what runs together, and backward makes the mask
/// anew instead of keeping it.
#pragma once

#include <algorithm>
#include <vector>

#include "espalier/base/random.h"
#include "espalier/ops/number_text.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// Where in the random numbers those of one node begin.
struct DropoutFields {
  std::array<std::uint32_t, 2> key{};  // of the seed and the training step
  std::uint32_t number = 0;            // of the random op within its instance
  std::array<std::uint32_t, 2> instance{};

  static DropoutFields at(std::uint64_t seed, std::uint64_t step, const Graph::RandomPlace& place) {
    const std::array<std::uint32_t, 4> of_step = philox({low(step), high(step), 0, 0}, {low(seed), high(seed)});
    return {{of_step[0], of_step[1]}, place.number, {low(place.instance_key), high(place.instance_key)}};
  }
  /// Four random words; each `block` has its own.
  std::array<std::uint32_t, 4> words(std::uint32_t block) const {
    return philox({block, number, instance[0], instance[1]}, key);
  }

 private:
  static std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
};

struct Dropout {
  static constexpr std::string_view kName = "dropout";
  static constexpr std::string_view kContract = "y = x / (1 - rate), or 0 with probability rate, element by element";
  static constexpr Kind kKind = Kind::kMove;  // the same element gives another result in another place: no map
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  static constexpr bool kRandom = true;
  struct Attrs {
    double rate = 0.5;
    bool operator==(const Attrs&) const = default;
  };
  using Fields = DropoutFields;

  static bool accepts(double rate) { return rate >= 0 && rate < 1; }

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    if (!accepts(attrs.rate)) in.refuse("rate must be in [0, 1), and it is " + number_text(attrs.rate));
    return in["x"];
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    const T factor = static_cast<T>(1 / (1 - attrs.rate));
    for_kept(attrs, fields, y.size(), [&](std::size_t i, bool kept) { y[i] = kept ? factor * in[0][i] : T(0); });
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const auto factor = static_cast<float>(1 / (1 - attrs.rate));
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const float* x = in[0][r];
      float* y = out.y[r];
      for_kept(attrs, in.fields<Fields>(r), static_cast<std::size_t>(out.y.width),
               [&](std::size_t i, bool kept) { y[i] = kept ? factor * x[i] : 0; });
    }
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const auto factor = static_cast<float>(1 / (1 - attrs.rate));
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float* dy = saved.dy[r];
      const std::span<float> dx = grads[0].open(r);
      for_kept(attrs, saved.in.fields<Fields>(r), dx.size(),
               [&](std::size_t i, bool kept) { dx[i] += kept ? factor * dy[i] : 0; });
    }
  }
  static void place_random(Fields& fields, std::uint64_t seed, std::uint64_t step, const Graph::RandomPlace& place) {
    fields = DropoutFields::at(seed, step, place);
  }
  static Samples samples() {
    return {gives<Dropout>({Tensor({3}, {1, -2, 0.5F})}, Tensor({3}, {1, -2, 0.5F}), {0}), works_on<Dropout>({{7}}),
            works_on<Dropout>({{}}, {0.25}, {{1, 2}, 3, {4, 5}}),
            works_on<Dropout>({{3, 5}}, {0.9}, {{6, 7}, 0, {8, 0}})};
  }
  static Refusals refusals() {
    return {refuses<Dropout>({{3}}, "dropout: rate must be in [0, 1), and it is 1", {1}),
            refuses<Dropout>({{3}}, "dropout: rate must be in [0, 1), and it is -0.25", {-0.25})};
  }

 private:
  /// Calls f(i, whether element i is kept) for i from 0 to n - 1: four elements share a block of random words.
  template <class F>
  static void for_kept(const Attrs& attrs, const Fields& fields, std::size_t n, const F& f) {
    const auto drop_below = static_cast<std::uint32_t>(attrs.rate * 0x1p32);
    for (std::size_t begin = 0; begin < n; begin += 4) {
      const std::array<std::uint32_t, 4> words = fields.words(static_cast<std::uint32_t>(begin / 4));
      const std::size_t end = std::min(n, begin + 4);
      for (std::size_t i = begin; i < end; ++i) f(i, words[i - begin] >= drop_below);
    }
  }
};

}  // namespace ops

/// Every element with probability `rate` replaced by 0, the others divided by 1 - rate, so that the mean stays. Gives x
/// itself for rate 0 and outside training (GraphOptions).
inline Expr dropout(Operand x, double rate) {
  Graph& graph = find_graph(ops::info_of<ops::Dropout>(), std::span<const Operand>(&x, 1));
  // A refused rate uses up no random number.
  if (!ops::Dropout::accepts(rate)) return ops::record<ops::Dropout>({x}, {rate});
  const GraphOptions& options = graph.options();
  if (rate == 0 || !options.training) return x.expr();
  const std::uint64_t step = graph.step();
  const auto fields_at = [&](const Graph::RandomPlace& place) {
    return ops::DropoutFields::at(options.seed, step, place);
  };
  if (x.parameter() != nullptr || !graph.owns(x.expr()) || !graph.is_many(x.expr().node()))
    return ops::record<ops::Dropout>({x}, {rate}, fields_at(graph.next_random_place()));
  const std::int32_t rows = graph.rows(x.expr().node());
  Graph::RandomPlace place = graph.next_random_places(static_cast<std::uint32_t>(rows));
  std::vector<ops::DropoutFields> fields;
  for (std::int32_t r = 0; r < rows; ++r, ++place.number) fields.push_back(fields_at(place));
  const ops::Dropout::Attrs attrs{rate};
  return graph.record_rows(ops::info_of<ops::Dropout>(), &attrs, fields.data(), rows, {&x, 1});
}

}  // namespace espalier
