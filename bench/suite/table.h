/// Records as aligned text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/suite/record.h"

namespace espalier::bench {

/// A line that says what the rows under it are, and the names of the columns.
std::string table_heading(std::string_view title, const Record& first);
/// One line a record, of one setting.
std::string table_rows(std::span<const Record> records);

/// "1,234", "12.3", "0.123": enough digits to compare, none that are noise.
std::string short_number(double number);
/// "12.3 kB", "4.5 MB".
std::string short_bytes(double bytes);
/// "123 us", "4.5 ms", "1.2 s".
std::string short_time(double seconds);

}  // namespace espalier::bench
