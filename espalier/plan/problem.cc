#include "espalier/plan/problem.h"

#include <cstring>
#include <span>

namespace espalier::plan {
namespace {

class Hash {
 public:
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15ULL;
    state_ ^= state_ >> 29;
  }
  template <class T>
  void add(const std::vector<T>& values) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    add(bytes.size());
    std::uint64_t word = 0;
    std::size_t i = 0;
    for (; i + sizeof(word) <= bytes.size(); i += sizeof(word)) {
      std::memcpy(&word, bytes.data() + i, sizeof(word));
      add(word);
    }
    word = 0;
    if (i < bytes.size()) std::memcpy(&word, bytes.data() + i, bytes.size() - i);
    add(word);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x2545F4914F6CDD1DULL;
};

}  // namespace

// The facts are left out: they nearly always follow from the rest, and equality compares them anyway.
std::uint64_t hash_of(const Problem& problem) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(problem.strategy));
  hash.add(static_cast<std::uint64_t>(problem.lifetime));
  hash.add(problem.signature);
  hash.add(problem.inputs);
  hash.add(problem.is_output);
  hash.add(problem.rows);
  return hash.value();
}

}  // namespace espalier::plan
