#include "espalier/nn/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/ops/add.h"
#include "espalier/ops/lstm_memory.h"
#include "espalier/ops/lstm_output.h"
#include "espalier/ops/slice.h"
#include "espalier/tensor/tensor.h"

namespace espalier::nn::detail {

Expr gate(const Operand& gates, std::int32_t hidden, std::int32_t first, std::int32_t count) {
  return slice(gates, first * hidden, (first + count) * hidden);
}

LstmState lstm_state(const At& at, const Expr& gates, const LstmGates& places, std::span<const Expr> memories,
                     const Expr* kept) {
  const auto part = [&](std::int32_t number) { return gate(at(gates), places.size, number); };
  ExprList terms{part(places.input), part(places.update)};
  for (std::size_t k = 0; k < memories.size(); ++k) {
    terms.push_back(part(places.forget + static_cast<std::int32_t>(k)));
    terms.push_back(memories[k]);
  }
  Expr c = lstm_memory(at(terms));
  if (kept != nullptr) c = add(at(c), at(*kept));
  return {lstm_output(at(part(places.output)), at(c)), c};
}

Expr zeros(Graph& graph, const Shape& shape, const Parameter& like, SourceLine where) {
  return graph.constant(shape, 0, like.value().dtype(), where.file(), where.line());
}

init::Initializer in_blocks(init::Initializer initializer, std::int64_t rows, std::int64_t columns) {
  return [initializer = std::move(initializer), rows, columns](Tensor& value, Random& random) {
    Tensor block(Shape{rows, columns});
    const std::span<float> all = value.as<float>();
    const auto width = static_cast<std::ptrdiff_t>(value.shape()[1]);
    for (std::int64_t top = 0; top < value.shape()[0]; top += rows) {
      for (std::int64_t left = 0; left < value.shape()[1]; left += columns) {
        initializer(block, random);
        auto from = block.as<float>().begin();
        for (std::int64_t row = 0; row < rows; ++row, from += columns)
          std::copy_n(from, columns, all.begin() + (top + row) * width + left);
      }
    }
  };
}

init::Initializer gate_bias(std::int32_t hidden, std::int32_t first, std::int32_t count, double value) {
  return [=](Tensor& bias, Random&) {
    const std::span<float> all = bias.as<float>();
    std::fill(all.begin(), all.end(), 0.0F);
    std::fill_n(all.begin() + std::ptrdiff_t{first} * hidden, std::ptrdiff_t{count} * hidden,
                static_cast<float>(value));
  };
}

void require_size(std::string_view layer, const Scope& scope, std::string_view name, std::int64_t size) {
  if (size < 1)
    throw UsageError(
        fmt::format("{} \"{}\": {} must be at least 1, and {} was given", layer, scope.prefix(), name, size));
}

}  // namespace espalier::nn::detail
