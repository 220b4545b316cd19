/// Records as aligned text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bench/suite/record.h"

namespace espalier::bench {

/// The title line of a table, and the names of its columns.
std::string table_heading(std::string_view title, const Record& first);
/// One line per record; all records are of one setting.
std::string table_rows(std::span<const Record> records);

}  // namespace espalier::bench
