/// Which signatures depend on each other, directly or through others: the strongly connected components of the graph
/// that has an edge from s to t where a node of s is an input of a node of t.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier::batch {

/// The distinct pairs of signatures of which one is used by the other (or by itself): a bit for each pair where they
/// are few, the usual case; else a list. Neighbouring nodes repeat the same few pairs: a table of those seen last keeps
/// most of them out of that list.
class SignaturePairs {
 public:
  void clear(std::int32_t signatures);

  /// Which of the two ways is used. The caller branches on it once, not with every pair.
  bool by_bits() const { return by_bits_; }
  /// Functions (from, to) that add a pair; they hold until the next clear().
  auto add_bit() {
    return [bits = bits_.data(), words = words_](std::int32_t from, std::int32_t to) {
      bits[static_cast<std::size_t>(from) * words + static_cast<std::size_t>(to) / 64] |= std::uint64_t{1} << (to % 64);
    };
  }
  auto add_listed() {
    return [this](std::int32_t from, std::int32_t to) {
      const std::uint64_t pair = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
      std::uint64_t& seen = recent_[(pair * 0x9E3779B97F4A7C15ULL) >> (64 - kRecentBits)];
      if (seen == pair) return;
      seen = pair;
      listed_.push_back(pair);
    };
  }

  /// The pairs in compressed form: s is used by to()[begin()[s]] to to()[begin()[s + 1] - 1]. After the last pair.
  void compress();
  const std::vector<std::int32_t>& begin() const { return begin_; }
  const std::vector<std::int32_t>& to() const { return to_; }

 private:
  static constexpr int kRecentBits = 10;

  std::int32_t signatures_ = 0;
  bool by_bits_ = true;
  std::size_t words_ = 0;  // of a row of bits_
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint64_t> recent_;
  std::vector<std::uint64_t> listed_;
  std::vector<std::int32_t> begin_;
  std::vector<std::int32_t> to_;
};

class Components {
 public:
  /// Finds the components of `signatures` signatures with these edges, which are compressed.
  void find(std::int32_t signatures, const SignaturePairs& pairs);

  std::int32_t count() const { return static_cast<std::int32_t>(size_.size()); }
  /// That of a user is smaller than that of what it uses, or the same.
  std::int32_t component(std::int32_t signature) const { return component_[static_cast<std::size_t>(signature)]; }
  /// The place of a signature within its component, from 0.
  std::int32_t place(std::int32_t signature) const { return place_[static_cast<std::size_t>(signature)]; }
  /// Signatures in the component of this one.
  std::int32_t size_of(std::int32_t signature) const { return size_[static_cast<std::size_t>(component(signature))]; }

 private:
  struct Visit {
    std::int32_t signature;
    std::int32_t next_edge;
  };

  std::vector<std::int32_t> component_;  // of each signature
  std::vector<std::int32_t> place_;
  std::vector<std::int32_t> size_;  // of each component
  std::vector<std::int32_t> number_;
  std::vector<std::int32_t> low_;
  std::vector<std::int32_t> open_;
  std::vector<Visit> visits_;
};

}  // namespace espalier::batch
