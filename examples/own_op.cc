/// An op of your own, outside the library: the cosine of two vectors, given by its plain code alone. The program checks
/// value, gradient and refusal against what was worked out by hand.
#include <espalier/espalier.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace esp = espalier;

struct Cosine {
  static constexpr std::string_view kName = "cosine";
  static constexpr std::string_view kContract = "y = a . b / (|a| |b|)   a, b: [n], not 0   ->   y: []";
  static constexpr esp::Kind kKind = esp::Kind::kReduce;
  static constexpr std::array kInputs{esp::Input{"a", esp::Role::kStacked}, esp::Input{"b", esp::Role::kStacked}};
  static constexpr esp::Keep kKeep{.inputs = true};
  using Attrs = esp::ops::None;
  using Fields = esp::ops::None;

  static esp::Shape infer(const Attrs&, const esp::InputShapes& in) {
    in.require_rank("a", 1);
    in.require_same_shape("a", "b");
    return {};
  }
  template <class T>
  static void plain(const Attrs&, const Fields&, const esp::PlainIn<T>& in, std::span<T> y) {
    using std::sqrt;
    T ab = 0;
    T aa = 0;
    T bb = 0;
    for (std::size_t i = 0; i < in[0].size(); ++i) {
      ab += in[0][i] * in[1][i];
      aa += in[0][i] * in[0][i];
      bb += in[1][i] * in[1][i];
    }
    y[0] = ab / sqrt(aa * bb);
  }
  static esp::Samples samples() {
    return {esp::gives<Cosine>({esp::Tensor({2}, {3, 4}), esp::Tensor({2}, {4, 3})}, esp::Tensor({}, {0.96F})),
            esp::works_on<Cosine>({{7}, {7}})};
  }
  static esp::Refusals refusals() {
    return {esp::refuses<Cosine>({{2}, {3}}, "cosine: shape of a ([2]) and shape of b ([3]) differ")};
  }
};

esp::Expr cosine(esp::Operand a, esp::Operand b) { return esp::ops::record<Cosine>({a, b}); }

namespace {

bool near(double found, double expected, const char* what) {
  const bool right = std::abs(found - expected) < 1e-6;
  std::printf("%-10s %9.6f, by hand %9.6f%s\n", what, found, expected, right ? "" : "   WRONG");
  return right;
}

/// a = (3, 4), b = (4, 3): the cosine is 24 / 25, and its gradient by a is
/// b / (|a| |b|) - cosine a / |a|^2 = (0.16 - 0.1152, 0.12 - 0.1536).
bool gives_what_was_worked_out() {
  esp::Graph g;
  const esp::Expr a = g.input({{2}, {3, 4}});
  const esp::Expr b = g.input({{2}, {4, 3}});
  const esp::Expr y = cosine(a, b);
  y.backward({.wanted = {a}});
  const bool value = near(y.scalar(), 0.96, "value");
  const bool first = near(a.grad().at(0), 0.0448, "by a[0]");
  const bool second = near(a.grad().at(1), -0.0336, "by a[1]");
  return value && first && second;
}

bool refuses_what_does_not_fit() {
  esp::Graph g;
  const esp::Expr a = g.constant({2}, 1);
  const esp::Expr b = g.constant({3}, 1);
  try {
    cosine(a, b);
  } catch (const esp::UsageError& error) {
    std::printf("%s\n", error.what());
    const std::string sentence = Cosine::refusals()[0].sentence;
    return std::string_view(error.what()).substr(0, sentence.size()) == sentence;
  }
  return false;
}

}  // namespace

int main() {
  esp::register_op<Cosine>();
  const bool right = gives_what_was_worked_out();
  const bool refused = refuses_what_does_not_fit();
  return right && refused ? 0 : 1;
}
