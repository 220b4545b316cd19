/// Span F1: how well spans of typed text, such as names of persons and places, were found. A predicted span is right if
/// type, begin and end are (Tjong Kim Sang and De Meulder, CoNLL 2003).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "espalier/base/export.h"

namespace espalier::train {

struct Span {
  std::string type;
  std::int64_t begin = 0;
  std::int64_t end = 0;                           // behind the last word
  auto operator<=>(const Span&) const = default;  // NOLINT(modernize-use-nullptr): of the code the compiler makes
};

struct SpanCounts {
  std::int64_t right = 0;
  std::int64_t expected = 0;
  std::int64_t predicted = 0;

  /// Shares from 0 to 1; 0 if nothing was predicted, or expected.
  double precision() const { return share(right, predicted); }
  double recall() const { return share(right, expected); }
  /// The harmonic mean of the two.
  double f1() const { return share(2 * right, expected + predicted); }

 private:
  static double share(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

class ESPALIER_EXPORT SpanF1 {
 public:
  /// The spans of one sentence, in any order. A span that is given twice counts once for each right one.
  void add(std::span<const Span> expected, std::span<const Span> predicted);

  /// Over all spans, whatever their type (micro average).
  SpanCounts all() const;
  const std::map<std::string, SpanCounts>& by_type() const { return by_type_; }

 private:
  std::map<std::string, SpanCounts> by_type_;
};

}  // namespace espalier::train
