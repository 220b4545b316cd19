/// Early exit (as in BranchyNet; Teerapittayanon et al., 2016): a stack of layers, each with a classifier of its own.
/// An instance leaves the stack at the first layer that is sure enough; those that stay still run as one batch.
#include <espalier/espalier.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace esp = espalier;

namespace {

/// Points in the plane: the class is the ring that a point lies in. Those near an edge are hard.
struct Point {
  float x = 0, y = 0;
  std::int32_t ring() const { return static_cast<std::int32_t>(2 * std::sqrt(x * x + y * y)) % 2; }
};

struct Answer {
  std::int64_t ring = 0;
  std::size_t layers = 0;  // that were computed
};

struct Stack {
  static constexpr std::size_t kLayers = 6;
  static constexpr int kSize = 32;

  esp::Model model;
  esp::nn::Linear first{model / "first", 2, kSize};
  std::vector<esp::nn::Linear> layers;
  std::vector<esp::nn::Linear> exits;

  Stack() {
    const esp::Scope of_layers = model / "layers", of_exits = model / "exits";
    for (std::size_t i = 0; i < kLayers; ++i) {
      layers.emplace_back(of_layers / std::to_string(i), kSize, kSize);
      exits.emplace_back(of_exits / std::to_string(i), kSize, 2);
    }
  }
  esp::Expr begin(esp::Graph& g, const Point& point) const { return relu(first(g.input({2}, {point.x, point.y}))); }
  esp::Expr deeper(std::size_t layer, const esp::Expr& h) const { return h + relu(layers[layer](h)); }

  /// All exits learn.
  esp::Expr loss(esp::Graph& g, const Point& point) const {
    esp::Expr h = begin(g, point);
    std::vector<esp::Expr> losses;
    for (std::size_t i = 0; i < kLayers; ++i) {
      h = deeper(i, h);
      losses.push_back(esp::cross_entropy(exits[i](h), point.ring()));
    }
    return esp::sum(losses);
  }

  /// Leaves where a class has the probability `sure`; at the last layer anyway.
  esp::Task<Answer> classify(esp::Graph& g, const Point& point, double sure) const {
    esp::Expr h = begin(g, point);
    for (std::size_t i = 0;; ++i) {
      h = deeper(i, h);
      const esp::Expr probabilities = esp::softmax(exits[i](h));
      const esp::Tensor of_classes = co_await probabilities;
      const std::int64_t best = of_classes.argmax();
      if (of_classes.at(best) >= sure || i + 1 == kLayers) co_return Answer{best, i + 1};
    }
  }
};

}  // namespace

int main() {
  esp::Random random(1);
  const auto draw = [&] {
    return Point{static_cast<float>(random.uniform(-1, 1)), static_cast<float>(random.uniform(-1, 1))};
  };
  Stack net;
  esp::optim::Adam adam(net.model, {.learning_rate = 0.005});
  for (int batch = 0; batch < 600; ++batch) {
    esp::Graph g;
    std::vector<esp::Expr> losses;
    for (int i = 0; i < 32; ++i) {
      g.begin_instance();
      losses.push_back(net.loss(g, draw()));
    }
    esp::mean(losses).backward();
    adam.step();
  }
  std::vector<Point> points;
  for (int i = 0; i < 500; ++i) points.push_back(draw());
  double accuracy = 0, layers = 0;
  for (const double sure : {0.7, 0.9, 0.99, 1.1}) {
    esp::RunStatistics took;
    const std::vector<Answer> answers =
        esp::run_batched(points, [&](esp::Graph& g, const Point& point) { return net.classify(g, point, sure); },
                         {.in_flight = 64, .statistics = &took});
    accuracy = layers = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      accuracy += answers[i].ring == points[i].ring() ? 0.002 : 0;
      layers += 0.002 * static_cast<double>(answers[i].layers);
    }
    std::printf("sure at %.2f: accuracy %.3f with %.2f of %zu layers, %.1f rows per step\n", sure, accuracy, layers,
                Stack::kLayers, took.graphs.rows_a_step());
    if (sure == 0.99 && (accuracy < 0.93 || layers > 5.5)) return 1;
  }
  return layers > 5.99 ? 0 : 1;  // nobody is surer than sure
}
