#include "espalier/nn/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/nn/safetensors.h"

namespace espalier::init {
namespace {

struct Fans {
  double in;
  double out;
};

// A weight without elements has fans of 0; 1 then keeps the formulas finite.
Fans fans_of(const Shape& shape) {
  const auto out = static_cast<std::int64_t>(shape.last());
  const std::int64_t in = out == 0 ? 1 : shape.elements() / out;
  return {static_cast<double>(std::max<std::int64_t>(in, 1)), static_cast<double>(std::max<std::int64_t>(out, 1))};
}

constexpr std::int64_t kGrain = 1 << 14;  // elements; fewer are not worth another thread
constexpr std::uint64_t kUniformWords = 2;
constexpr std::uint64_t kNormalWords = 4;

/// The stream of the draw with this number, where every draw takes `words` words.
Random stream_at(const Random& begin, std::uint64_t words, std::int64_t number) {
  Random::State state = begin.state();
  state.position += words * static_cast<std::uint64_t>(number);
  Random result(0);
  result.set_state(state);
  return result;
}

/// Where every element takes `words` words of the stream, each part of a tensor knows where it begins: all threads
/// draw, and the numbers do not depend on how many they are.
template <class Draw>
void fill(Tensor& value, Random& random, std::uint64_t words, const Draw& draw) {
  const std::span<float> elements = value.as<float>();
  parallel_for(value.elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    Random own = stream_at(random, words, begin);
    for (std::int64_t i = begin; i < end; ++i) elements[static_cast<std::size_t>(i)] = static_cast<float>(draw(own));
  });
  random = stream_at(random, words, value.elements());
}

/// Fills with draws that are `accepted`, in their order. Each round draws as many numbers as are missing, in parts of a
/// fixed size: none is drawn behind the last one that is needed, and the parts do not depend on the threads.
template <class Accepted, class Draw>
void fill_accepted(std::span<float> elements, Random& random, const Accepted& accepted, const Draw& draw) {
  while (!elements.empty()) {
    const auto missing = static_cast<std::int64_t>(elements.size());
    const std::int64_t parts = (missing + kGrain - 1) / kGrain;
    std::vector<std::int64_t> found(static_cast<std::size_t>(parts), 0);  // they are at the beginning of their part
    parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t part = first; part < last; ++part) {
        Random own = stream_at(random, kNormalWords, part * kGrain);
        float* const to = elements.data() + part * kGrain;
        std::int64_t& count = found[static_cast<std::size_t>(part)];
        for (std::int64_t i = part * kGrain; i < std::min((part + 1) * kGrain, missing); ++i)
          if (const double drawn = own.normal(); accepted(drawn)) to[count++] = static_cast<float>(draw(drawn));
      }
    });
    random = stream_at(random, kNormalWords, missing);
    float* end = elements.data();
    for (std::int64_t part = 0; part < parts; ++part) {
      const float* const from = elements.data() + part * kGrain;
      end = std::copy(from, from + found[static_cast<std::size_t>(part)], end);
    }
    elements = elements.subspan(static_cast<std::size_t>(end - elements.data()));
  }
}

void require_finite(std::string_view initializer, std::string_view what, double value) {
  if (!std::isfinite(value)) throw UsageError(fmt::format("{}: {} must be finite, not {}", initializer, what, value));
}

void require_deviation(std::string_view initializer, double mean, double deviation) {
  require_finite(initializer, "the mean", mean);
  require_finite(initializer, "the deviation", deviation);
  if (deviation < 0)
    throw UsageError(fmt::format("{}: the deviation must be 0 or more, not {}", initializer, deviation));
}

// Four partial sums, so that one addition need not wait for the one before.
double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// `count` orthonormal vectors of `length` >= count elements by Gram and Schmidt. Each is projected twice: rounding
// leaves a remainder after the first time, and none that matters after the second (Giraud et al., 2005).
std::vector<std::vector<double>> orthonormal(std::size_t count, std::size_t length, Random& random) {
  constexpr double kTooDependent = 1e-6;  // of the length before: nothing but rounding would be left
  std::vector<std::vector<double>> basis;
  while (basis.size() < count) {
    std::vector<double> vector(length);
    for (double& element : vector) element = random.normal();
    const double before = std::sqrt(dot(vector, vector));
    for (int pass = 0; pass < 2; ++pass)
      for (const std::vector<double>& other : basis) {
        const double along = dot(vector, other);
        for (std::size_t i = 0; i < length; ++i) vector[i] -= along * other[i];
      }
    const double after = std::sqrt(dot(vector, vector));
    if (!(after > kTooDependent * before)) continue;
    for (double& element : vector) element /= after;
    basis.push_back(std::move(vector));
  }
  return basis;
}

}  // namespace

Initializer constant(double value) {
  return [value](Tensor& tensor, Random& random) { fill(tensor, random, 0, [&](Random&) { return value; }); };
}

Initializer zeros() { return constant(0); }

Initializer uniform(double low, double high) {
  require_finite("init::uniform", "low", low);
  require_finite("init::uniform", "high", high);
  if (low > high) throw UsageError(fmt::format("init::uniform: low ({}) is above high ({})", low, high));
  return [low, high](Tensor& tensor, Random& random) {
    fill(tensor, random, kUniformWords, [&](Random& from) { return from.uniform(low, high); });
  };
}

Initializer normal(double mean, double deviation) {
  require_deviation("init::normal", mean, deviation);
  return [mean, deviation](Tensor& tensor, Random& random) {
    fill(tensor, random, kNormalWords, [&](Random& from) { return mean + deviation * from.normal(); });
  };
}

Initializer glorot(double gain) {
  require_finite("init::glorot", "the gain", gain);
  return [gain](Tensor& tensor, Random& random) {
    const Fans fans = fans_of(tensor.shape());
    const double limit = std::abs(gain) * std::sqrt(6.0 / (fans.in + fans.out));
    fill(tensor, random, kUniformWords, [&](Random& from) { return from.uniform(-limit, limit); });
  };
}

Initializer he(double gain) {
  require_finite("init::he", "the gain", gain);
  return [gain](Tensor& tensor, Random& random) {
    const double deviation = gain * std::sqrt(2.0 / fans_of(tensor.shape()).in);
    fill(tensor, random, kNormalWords, [&](Random& from) { return deviation * from.normal(); });
  };
}

Initializer unit_scaling(double factor) {
  require_finite("init::unit_scaling", "the factor", factor);
  return [factor](Tensor& tensor, Random& random) {
    const double limit = std::abs(factor) * std::sqrt(3.0 / fans_of(tensor.shape()).in);
    fill(tensor, random, kUniformWords, [&](Random& from) { return from.uniform(-limit, limit); });
  };
}

Initializer truncated_normal(double mean, double deviation) {
  require_deviation("init::truncated_normal", mean, deviation);
  return [mean, deviation](Tensor& tensor, Random& random) {
    fill_accepted(
        tensor.as<float>(), random, [](double drawn) { return std::abs(drawn) <= 2; },
        [&](double drawn) { return mean + deviation * drawn; });
  };
}

Initializer orthogonal(double gain) {
  require_finite("init::orthogonal", "the gain", gain);
  return [gain](Tensor& tensor, Random& random) {
    const Shape& shape = tensor.shape();
    if (shape.rank() != 2)
      throw UsageError(fmt::format("init::orthogonal: the parameter must have 2 axes, and {} has {}", shape.to_string(),
                                   shape.rank()));
    const auto rows = static_cast<std::size_t>(shape[0]);
    const auto columns = static_cast<std::size_t>(shape[1]);
    const bool by_rows = rows <= columns;
    const auto basis = orthonormal(std::min(rows, columns), std::max(rows, columns), random);
    const std::span<float> elements = tensor.as<float>();
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        elements[i * columns + j] = static_cast<float>(gain * (by_rows ? basis[i][j] : basis[j][i]));
  };
}

Initializer from_file(std::string path, std::string name) {
  return [path = std::move(path), name = std::move(name)](Tensor& tensor, Random&) {
    SafetensorsReader(path).read_into(name, tensor);
  };
}

Initializer from_tensor(Tensor value) {
  return [value = std::move(value)](Tensor& tensor, Random&) {
    if (value.shape() != tensor.shape())
      throw UsageError(fmt::format("init::from_tensor: the parameter has shape {}, and the tensor {}",
                                   tensor.shape().to_string(), value.shape().to_string()));
    tensor = value;
  };
}

Initializer from_rows(Tensor rows, Initializer rest) {
  return [rows = std::move(rows), rest = std::move(rest)](Tensor& tensor, Random& random) {
    const Shape& given = rows.shape();
    const Shape& wanted = tensor.shape();
    if (given.rank() != 2 || wanted.rank() != 2 || given[1] != wanted[1] || given[0] > wanted[0])
      throw UsageError(fmt::format("init::from_rows: the parameter has shape {}, and the rows {}", wanted.to_string(),
                                   given.to_string()));
    rest(tensor, random);
    for (std::int64_t i = 0; i < rows.elements(); ++i) tensor.set(i, rows.at(i));
  };
}

}  // namespace espalier::init
