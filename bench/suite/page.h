/// Records as an HTML page.
#pragma once

#include <string>
#include <string_view>

#include "bench/suite/record.h"

namespace espalier::bench {

/// The plot, the targets with their verdicts, and a table of all records.
std::string page_html(const Records& records, std::string_view svg);

}  // namespace espalier::bench
