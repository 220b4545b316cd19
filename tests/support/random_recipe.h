/// Recipes of random graphs, and the parameters that such graphs use.
///
/// A recipe is a list of small numbers that any list is a legal value of, so that a generator may draw it and shrink it
/// freely; record() of random_graph.h turns it into nodes.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "espalier/nn/model.h"

namespace espalier::testing {

/// One step of a recipe: what to do, and numbers from which operands, rows and constants are taken.
struct Move {
  std::uint32_t what = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

/// How operands are chosen.
enum class Topology : std::uint32_t {
  kChain,    // the newest
  kTree,     // the oldest that nobody used yet
  kLattice,  // one of the newest three
  kDag,      // any
};

struct Recipe {
  Topology topology = Topology::kDag;
  std::vector<std::vector<Move>> instances;
  std::uint32_t choices = 0;  // of the width, of how instances meet, of the loss
  bool products = true;       // else none is recorded

  /// Of the vectors; most are no multiple of a SIMD register.
  std::int32_t width() const {
    constexpr std::array<std::int32_t, kWidths> kWidth{5, 3, 8, 5, 3, 8, 5, 16};
    return kWidth[choices % kWidths];
  }
  /// The moves of an instance: its own or, so that much runs together, those of the first.
  const std::vector<Move>& moves_of(std::size_t instance) const {
    return instances[choices / kWidths % 2 == 1 ? 0 : instance];
  }
  /// Whether instances read a mean over those before them.
  bool joint() const { return choices / kOfInstances % 3 == 1; }
  enum class Loss : std::uint32_t { kSum, kMean, kScaled, kNested };
  Loss loss() const { return Loss{choices / kOfInstances / 3 % 4}; }
  /// The same where instances share parameters only, and the loss is the sum or the mean of theirs.
  Recipe independent(bool mean = false) const {
    Recipe result = *this;
    result.choices = choices % kOfInstances + (mean ? kOfInstances * 3 : 0);
    return result;
  }

 private:
  static constexpr std::uint32_t kWidths = 8;
  static constexpr std::uint32_t kOfInstances = 2 * kWidths;
};

/// The parameters that random graphs use. Rows of the table are on the grid.
struct RandomNet {
  static constexpr std::int32_t kRows = 7;
  static constexpr std::int32_t kLabels = 4;

  explicit RandomNet(std::uint64_t seed, DType dtype = DType::kFloat32, std::int32_t of_width = 5)
      : model(seed), width(of_width) {
    // So that a product is about as large as its operand, whatever the width.
    const double largest = 0.5 * std::sqrt(5.0 / width);
    const auto add = [&](const char* name, const Shape& shape) -> Parameter& {
      return model.add(name, shape, init::uniform(-largest, largest));
    };
    table = &add("table", {kRows, width});
    for (std::int64_t i = 0; i < table->value().elements(); ++i)
      table->mutable_value().set(i, static_cast<double>((i * 7 + static_cast<std::int64_t>(seed)) % 13 - 6) / 4);
    W = &add("W", {width, width});
    V = &add("V", {width, width});
    b = &add("b", {width});
    gain = &add("gain", {width});
    tensor = &add("tensor", {width, width, width});
    filter = &add("filter", {2 * width, width});
    gates = &add("gates", {2 * width, 3 * width});
    gates_b = &add("gates_b", {3 * width});
    classify = &add("classify", {width, kLabels});
    model.to(dtype);
  }

  Model model;
  std::int32_t width;
  Parameter* table;
  Parameter* W;
  Parameter* V;
  Parameter* b;
  Parameter* gain;
  Parameter* tensor;
  Parameter* filter;
  Parameter* gates;
  Parameter* gates_b;
  Parameter* classify;
};

}  // namespace espalier::testing
