/// Numbers as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "espalier/base/export.h"

namespace espalier::report {

/// "12,345", "1234", "12.3", "0.123": enough digits to compare, and none of noise.
ESPALIER_EXPORT std::string short_number(double number);
/// "0.94"; a dash if there is none.
ESPALIER_EXPORT std::string short_ratio(const std::optional<double>& ratio);
/// "12.3 kB", "4.5 MB".
ESPALIER_EXPORT std::string short_bytes(double bytes);
/// "123 us", "4.5 ms", "1.2 s".
ESPALIER_EXPORT std::string short_time(double seconds);

/// Every digit, in groups of three: "1,234,567".
ESPALIER_EXPORT std::string whole_number(std::int64_t number);
/// Four significant digits, whatever the size: "0.8512", "12.35", "0.00001234", "1.234e+12".
ESPALIER_EXPORT std::string figure(double number);
/// Tenths of a percent: "85.1 %". 0 of nothing.
ESPALIER_EXPORT std::string percent(double part, double whole);

}  // namespace espalier::report
