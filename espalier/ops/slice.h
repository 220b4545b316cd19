#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/ops/axis.h"

namespace espalier {
namespace ops {

struct Slice {
  static constexpr std::string_view kName = "slice";
  static constexpr std::string_view kContract =
      "y = x from begin to end - 1 along an axis   x: [..., n, ...]   ->   y: [..., end - begin, ...]";
  static constexpr Kind kKind = Kind::kMove;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{};
  struct Attrs {
    std::int32_t axis = 0;
    std::int32_t begin = 0;
    std::int32_t end = 0;
    bool operator==(const Attrs&) const = default;
  };
  using Fields = None;

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_axis("x", attrs.axis);
    if (attrs.begin < 0 || attrs.end < attrs.begin || attrs.end > in["x"][attrs.axis])
      in.refuse(std::to_string(attrs.begin) + " to " + std::to_string(attrs.end) + " is no part of axis " +
                std::to_string(attrs.axis) + " of x " + in["x"].to_string());
    return in["x"].with(attrs.axis, attrs.end - attrs.begin);
  }
  static std::int64_t view(const Attrs& attrs, const InputShapes& in) {
    const Parts parts(attrs, in[0]);
    return parts.outer == 1 ? static_cast<std::int64_t>(parts.begin) : -1;
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields&, const PlainIn<T>& in, std::span<T> y) {
    const AxisView view(in.shape(0), attrs.axis);
    std::size_t at = 0;
    for (std::size_t o = 0; o < view.outer; ++o)
      for (auto s = static_cast<std::size_t>(attrs.begin); s < static_cast<std::size_t>(attrs.end); ++s)
        for (std::size_t i = 0; i < view.inner; ++i) y[at++] = in[0][(o * view.size + s) * view.inner + i];
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const Parts parts(attrs, in.shape(0));
    for (std::int64_t r = 0; r < in.rows; ++r)
      for (std::size_t o = 0; o < parts.outer; ++o)
        kernels::copy({in[0][r] + o * parts.whole + parts.begin, parts.size}, {out.y[r] + o * parts.size, parts.size});
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const Parts parts(attrs, saved.in.shape(0));
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const std::span<float> row = grads[0].open(r);
      for (std::size_t o = 0; o < parts.outer; ++o)
        kernels::add({saved.dy[r] + o * parts.size, parts.size},
                     row.subspan(o * parts.whole + parts.begin, parts.size));
    }
  }
  static Samples samples() {
    const Tensor x({2, 3}, {1, 2, 3, 4, 5, 6});
    return {gives<Slice>({Tensor({4}, {1, 2, 3, 4})}, Tensor({2}, {2, 3}), {0, 1, 3}),
            gives<Slice>({x}, Tensor({1, 3}, {4, 5, 6}), {0, 1, 2}),
            gives<Slice>({x}, Tensor({2, 2}, {2, 3, 5, 6}), {1, 1, 3}),
            works_on<Slice>({{1}}, {0, 0, 1}),
            works_on<Slice>({{9}}, {0, 0, 9}),
            works_on<Slice>({{3, 5, 7}}, {1, 2, 4}),
            works_on<Slice>({{3, 5, 7}}, {2, 6, 7})};
  }
  static Refusals refusals() {
    return {refuses<Slice>({{4}}, "slice: 2 to 5 is no part of axis 0 of x [4]", {0, 2, 5}),
            refuses<Slice>({{4}}, "slice: -1 to 2 is no part of axis 0 of x [4]", {0, -1, 2}),
            refuses<Slice>({{4, 6}}, "slice: 3 to 2 is no part of axis 1 of x [4, 6]", {1, 3, 2}),
            refuses<Slice>({{4}}, "slice: axis 1 is outside x [4] (rank 1)", {1, 0, 1})};
  }

 private:
  /// `outer` times, `size` elements from `begin` on of every `whole`.
  struct Parts {
    std::size_t outer;
    std::size_t whole;
    std::size_t begin;
    std::size_t size;

    Parts(const Attrs& attrs, const Shape& shape) {
      const AxisView view(shape, attrs.axis);
      outer = view.outer;
      whole = view.size * view.inner;
      begin = static_cast<std::size_t>(attrs.begin) * view.inner;
      size = static_cast<std::size_t>(attrs.end - attrs.begin) * view.inner;
    }
  };
};

}  // namespace ops

/// Elements begin to end - 1 along an axis; a negative axis counts from the last.
inline Expr slice(Operand x, std::int32_t begin, std::int32_t end, std::int32_t axis = 0) {
  return ops::record<ops::Slice>({x}, {ops::axis_of<ops::Slice>(x, axis), begin, end});
}

/// Slices of these sizes along an axis, one after the other. Refuses (UsageError) sizes that do not add up to that of
/// x.
inline std::vector<Expr> split(Operand x, std::span<const std::int32_t> sizes, std::int32_t axis = 0) {
  const std::int32_t along = ops::axis_of<ops::Slice>(x, axis);
  const Shape shape = x.shape();
  std::int64_t total = 0;
  for (const std::int32_t size : sizes) total += size;
  if (along < 0 || along >= shape.rank() || sizes.empty() || total != shape[along])
    throw UsageError("split: axis " + std::to_string(axis) + " of x " + shape.to_string() +
                     " cannot be divided into parts of " + std::to_string(total) + " elements together\n  at " +
                     x.where().to_string());
  std::vector<Expr> parts;
  std::int32_t begin = 0;
  for (const std::int32_t size : sizes) {
    parts.push_back(slice(x, begin, begin + size, along));  // refuses a size below 0
    begin += size;
  }
  return parts;
}
inline std::vector<Expr> split(Operand x, std::initializer_list<std::int32_t> sizes, std::int32_t axis = 0) {
  return split(x, std::span<const std::int32_t>(sizes.begin(), sizes.size()), axis);
}
/// Slices of equal size along an axis. Refuses (UsageError) a number of parts that does not divide the size of x there.
inline std::vector<Expr> split(Operand x, std::int32_t parts, std::int32_t axis = 0) {
  const std::int32_t along = ops::axis_of<ops::Slice>(x, axis);
  const Shape shape = x.shape();
  if (along < 0 || along >= shape.rank() || parts < 1 || shape[along] % parts != 0)
    throw UsageError("split: axis " + std::to_string(axis) + " of x " + shape.to_string() + " cannot be divided into " +
                     std::to_string(parts) + " equal parts\n  at " + x.where().to_string());
  return split(x, std::vector<std::int32_t>(static_cast<std::size_t>(parts), shape[along] / parts), along);
}

}  // namespace espalier
