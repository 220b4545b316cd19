#pragma once

#include <cmath>

#include "espalier/ops/number_text.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace ops {

/// The label is a field: nodes with different labels run together.
struct Hinge {
  static constexpr std::string_view kName = "hinge";
  static constexpr std::string_view kContract =
      "y = sum over j != label of max(0, margin - x[label] + x[j])   x: [n]   ->   y: []";
  static constexpr Kind kKind = Kind::kReduce;
  static constexpr std::array kInputs{Input{"x", Role::kStacked}};
  static constexpr Keep kKeep{.inputs = true};
  struct Attrs {
    double margin = 1;
    bool operator==(const Attrs&) const = default;
  };
  struct Fields {
    std::int32_t label = 0;
  };

  static Shape infer(const Attrs& attrs, const InputShapes& in) {
    in.require_rank("x", 1);
    if (in["x"][0] == 0) in.refuse("x is [0]; a label needs at least one element");
    if (!(attrs.margin >= 0) || !std::isfinite(attrs.margin))
      in.refuse("margin must be finite and 0 or more, and it is " + number_text(attrs.margin));
    return {};
  }
  static std::int32_t choices(const Attrs&, const InputShapes& in) { return in["x"][0]; }
  static void check(const Attrs&, const Fields& fields, const InputShapes& in) {
    if (fields.label < 0 || fields.label >= in["x"][0])
      in.refuse("label " + std::to_string(fields.label) + " is outside x (0 to " + std::to_string(in["x"][0] - 1) +
                ")");
  }
  template <class T>
  static void plain(const Attrs& attrs, const Fields& fields, const PlainIn<T>& in, std::span<T> y) {
    const auto label = static_cast<std::size_t>(fields.label);
    T sum = T(0);
    for (std::size_t j = 0; j < in[0].size(); ++j) {
      if (j == label) continue;
      const T violation = static_cast<T>(attrs.margin) - in[0][label] + in[0][j];
      sum += violation <= T(0) ? T(0) : violation;  // asked this way, NaN passes
    }
    y[0] = sum;
  }
  static void forward(const Attrs& attrs, const StepIn& in, const StepOut& out) {
    const auto margin = static_cast<float>(attrs.margin);
    for (std::int64_t r = 0; r < in.rows; ++r) {
      const float* x = in[0][r];
      const std::int32_t label = in.fields<Fields>(r).label;
      float sum = 0;
      for (std::int64_t j = 0; j < in[0].width; ++j) {
        const float violation = margin - x[label] + x[j];
        sum += j == label || violation <= 0 ? 0 : violation;
      }
      out.y[r][0] = sum;
    }
  }
  static void backward(const Attrs& attrs, const Saved& saved, Grads& grads) {
    if (!grads[0]) return;
    const auto margin = static_cast<float>(attrs.margin);
    for (std::int64_t r = 0; r < saved.in.rows; ++r) {
      const float* x = saved.in[0][r];
      const std::int32_t label = saved.in.fields<Fields>(r).label;
      const float dy = saved.dy[r][0];
      const std::span<float> dx = grads[0].open(r);
      std::int32_t violations = 0;
      for (std::int32_t j = 0; j < static_cast<std::int32_t>(dx.size()); ++j) {
        if (j == label || margin - x[label] + x[j] <= 0) continue;
        dx[static_cast<std::size_t>(j)] += dy;
        ++violations;
      }
      dx[static_cast<std::size_t>(label)] -= static_cast<float>(violations) * dy;
    }
  }
  static Samples samples() {
    return {gives<Hinge>({Tensor({4}, {1, 2, 1.5F, -3})}, Tensor({}, {0.5F}), {1}, {1}),
            gives<Hinge>({Tensor({4}, {1, 2, 1.5F, -3})}, Tensor({}, {4.5F}), {1.5}, {0}),
            works_on<Hinge>({{7}}, {1}, {6}),
            works_on<Hinge>({{1}}, {1}, {0}),
            works_on<Hinge>({{5}}, {0.25}, {2}),
            works_on<Hinge>({{6}}, {0}, {3})};
  }
  static Refusals refusals() {
    return {refuses<Hinge>({{2, 3}}, "hinge: x must have rank 1, and [2, 3] has rank 2"),
            refuses<Hinge>({{0}}, "hinge: x is [0]; a label needs at least one element"),
            refuses<Hinge>({{3}}, "hinge: margin must be finite and 0 or more, and it is -0.5", {-0.5}),
            refuses<Hinge>({{3}}, "hinge: label 3 is outside x (0 to 2)", {}, {3}),
            refuses<Hinge>({{3}}, "hinge: label -1 is outside x (0 to 2)", {}, {-1})};
  }
};

}  // namespace ops

/// The multi-class hinge loss of Weston and Watkins (1999): by how much the score of `label` fails to exceed that of
/// each other class by `margin`, summed over those classes.
inline Expr hinge(Operand x, std::int32_t label, double margin = 1) {
  return ops::record<ops::Hinge>({x}, {margin}, {label});
}

}  // namespace espalier
