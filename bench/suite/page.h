/// Records as a page for a browser.
#pragma once

#include <string>
#include <string_view>

#include "bench/suite/record.h"

namespace espalier::bench {

/// The picture, what the figures are to show and whether they do, and a table of all records.
std::string page_html(const Records& records, std::string_view svg);

}  // namespace espalier::bench
