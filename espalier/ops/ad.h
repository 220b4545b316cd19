/// A number that remembers how it was computed: plain code run on ad::Var gives its own gradient.
///
/// This is the reference for every hand-written backward: nothing of it is shared with the kernels.
///
/// Thread safety: the tape is per thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::ad {

/// The operations since the tape was cleared, each with up to two operands and the derivatives by them.
class ESPALIER_EXPORT Tape {
 public:
  /// That of the calling thread. Not inline: plain code of a program outside writes to the tape that the library reads.
  static Tape& local();
  void clear() { entries_.clear(); }
  std::int32_t push(std::int32_t a, double da, std::int32_t b = -1, double db = 0) {
    entries_.push_back({a, b, da, db});
    return static_cast<std::int32_t>(entries_.size() - 1);
  }
  std::size_t size() const { return entries_.size(); }

  /// Given the gradient by some entries in `grad` (one number an entry), adds what flows to all earlier ones.
  void propagate(std::vector<double>& grad) const {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      const Entry& entry = entries_[i];
      if (grad[i] == 0) continue;
      if (entry.a >= 0) grad[static_cast<std::size_t>(entry.a)] += entry.da * grad[i];
      if (entry.b >= 0) grad[static_cast<std::size_t>(entry.b)] += entry.db * grad[i];
    }
  }

 private:
  struct Entry {
    std::int32_t a, b;
    double da, db;
  };
  std::vector<Entry> entries_;
};

struct Var {
  double value = 0;
  std::int32_t entry = -1;  // -1: a constant

  Var() = default;
  Var(double constant) : value(constant) {}  // NOLINT(google-explicit-constructor): plain code mixes them with numbers
  Var(double v, std::int32_t e) : value(v), entry(e) {}

  /// A variable to differentiate by.
  static Var independent(double value) { return {value, Tape::local().push(-1, 0)}; }

  Var& operator+=(const Var& b);
  Var& operator-=(const Var& b);
  Var& operator*=(const Var& b);
  Var& operator/=(const Var& b);
};

inline Var unary(const Var& a, double value, double slope) {
  return a.entry < 0 ? Var(value) : Var(value, Tape::local().push(a.entry, slope));
}
inline Var binary(const Var& a, const Var& b, double value, double by_a, double by_b) {
  if (a.entry < 0 && b.entry < 0) return {value};
  return {value, Tape::local().push(a.entry, by_a, b.entry, by_b)};
}

inline Var operator+(const Var& a, const Var& b) { return binary(a, b, a.value + b.value, 1, 1); }
inline Var operator-(const Var& a, const Var& b) { return binary(a, b, a.value - b.value, 1, -1); }
inline Var operator*(const Var& a, const Var& b) { return binary(a, b, a.value * b.value, b.value, a.value); }
inline Var operator/(const Var& a, const Var& b) {
  return binary(a, b, a.value / b.value, 1 / b.value, -a.value / (b.value * b.value));
}
inline Var operator-(const Var& a) { return unary(a, -a.value, -1); }

inline Var& Var::operator+=(const Var& b) { return *this = *this + b; }
inline Var& Var::operator-=(const Var& b) { return *this = *this - b; }
inline Var& Var::operator*=(const Var& b) { return *this = *this * b; }
inline Var& Var::operator/=(const Var& b) { return *this = *this / b; }

inline bool operator<(const Var& a, const Var& b) { return a.value < b.value; }
inline bool operator>(const Var& a, const Var& b) { return a.value > b.value; }
inline bool operator<=(const Var& a, const Var& b) { return a.value <= b.value; }
inline bool operator>=(const Var& a, const Var& b) { return a.value >= b.value; }
inline bool operator==(const Var& a, const Var& b) { return a.value == b.value; }

inline bool isnan(const Var& a) { return std::isnan(a.value); }
inline Var exp(const Var& a) {
  const double e = std::exp(a.value);
  return unary(a, e, e);
}
inline Var expm1(const Var& a) { return unary(a, std::expm1(a.value), std::exp(a.value)); }
inline Var log(const Var& a) { return unary(a, std::log(a.value), 1 / a.value); }
inline Var log1p(const Var& a) { return unary(a, std::log1p(a.value), 1 / (1 + a.value)); }
inline Var tanh(const Var& a) {
  const double t = std::tanh(a.value);
  return unary(a, t, 1 - t * t);
}
inline Var sqrt(const Var& a) {
  const double s = std::sqrt(a.value);
  return unary(a, s, 0.5 / s);
}
inline Var pow(const Var& a, double exponent) {
  return unary(a, std::pow(a.value, exponent), exponent == 0 ? 0 : exponent * std::pow(a.value, exponent - 1));
}
inline Var erf(const Var& a) {
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  return unary(a, std::erf(a.value), kTwoOverRootPi * std::exp(-a.value * a.value));
}

}  // namespace espalier::ad
