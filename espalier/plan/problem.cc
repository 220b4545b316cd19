#include "espalier/plan/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "espalier/base/error.h"

namespace espalier::plan {
namespace {

/// Four chains side by side: a multiplication waits for the one before it in its chain only.
class Hash {
 public:
  void add(std::uint64_t word) { mix(chains_[0], word); }
  template <class T>
  void add(const std::vector<T>& values) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    add(bytes.size());
    std::array<std::uint64_t, kChains> words{};
    std::size_t i = 0;
    for (; i + sizeof(words) <= bytes.size(); i += sizeof(words)) {
      std::memcpy(words.data(), bytes.data() + i, sizeof(words));
      for (std::size_t k = 0; k < kChains; ++k) mix(chains_[k], words[k]);
    }
    words = {};
    if (i < bytes.size()) std::memcpy(words.data(), bytes.data() + i, bytes.size() - i);
    for (std::size_t k = 0; k < kChains; ++k) mix(chains_[k], words[k]);
  }
  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const std::uint64_t chain : chains_) mix(all, chain);
    return all;
  }

 private:
  static constexpr std::size_t kChains = 4;

  static void mix(std::uint64_t& state, std::uint64_t word) {
    state = (state ^ word) * 0x9E3779B97F4A7C15ULL;
    state ^= state >> 29;
  }

  std::array<std::uint64_t, kChains> chains_{0x2545F4914F6CDD1DULL, 0x9FB21C651E98DF25ULL, 0xD6E8FEB86659FD93ULL,
                                             0xA0761D6478BD642FULL};
};

}  // namespace

// The facts are left out: they nearly always follow from the rest, and equality compares them anyway.
void require_addressable(const Problem& problem) {
  constexpr double kMostBytes = 0x1p47;  // the address space of a process
  // Nearly always the largest row, as often as there are rows, is little enough.
  std::int64_t largest = 0;
  for (const Facts& facts : problem.facts) {
    largest = std::max(largest, facts.row_bytes + facts.saved_bytes + facts.deferred_bytes + facts.further_bytes);
  }
  const std::int64_t most_rows = problem.rows.empty() ? 1 : *std::max_element(problem.rows.begin(), problem.rows.end());
  if (static_cast<double>(largest) * static_cast<double>(most_rows) * problem.size() <= kMostBytes) return;
  double sum = 0;
  for (std::int32_t node = 0; node < problem.size(); ++node) {
    const Facts& facts = problem.facts[static_cast<std::size_t>(problem.signature[static_cast<std::size_t>(node)])];
    sum += static_cast<double>(facts.row_bytes + facts.saved_bytes) * problem.rows_of(node);
  }
  if (sum > kMostBytes)
    throw ResourceError(fmt::format("run: the values of {} nodes take {:.4g} bytes, and a process can address {:.4g}",
                                    problem.size(), sum, kMostBytes));
}

std::uint64_t hash_of(const Problem& problem) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(problem.strategy));
  hash.add(problem.own_strategy);
  hash.add(static_cast<std::uint64_t>(problem.lifetime));
  hash.add(problem.signature);
  hash.add(problem.inputs);
  hash.add(problem.is_output);
  hash.add(problem.rows);
  return hash.value();
}

}  // namespace espalier::plan
