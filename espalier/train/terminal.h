/// What a terminal can show, and bars drawn as text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier::train {

/// Whether the environment (LC_ALL, else LC_CTYPE, else LANG) promises UTF-8.
ESPALIER_EXPORT bool locale_is_utf8();

/// Whether the stream ends at a terminal.
ESPALIER_EXPORT bool is_terminal(std::FILE* stream);

/// In columns; where the stream cannot tell, COLUMNS of the environment, else 80.
ESPALIER_EXPORT int terminal_width(std::FILE* stream);

/// A bar for a share (0 to 1; others are brought there) of `width` columns, padded with spaces to that width. UTF-8:
/// whole and eighth blocks; else '#'.
ESPALIER_EXPORT std::string bar(double share, int width, bool utf8);

/// One line per entry: its number, its count, its share and a bar; the longest bar has `bar_width` columns. Entries
/// before the first and after the last count above 0 are left out.
///
///      depth  expressions
///          1          400   40.0%  ####################
///          2          600   60.0%  ##############################
ESPALIER_EXPORT std::string histogram_text(std::string_view number_title, std::string_view count_title,
                                           std::span<const std::int64_t> counts, bool utf8, int bar_width = 30);

}  // namespace espalier::train
