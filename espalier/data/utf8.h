/// Whether bytes are UTF-8, and the characters of UTF-8 text.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"

namespace espalier::data {

ESPALIER_EXPORT bool is_utf8(std::string_view bytes);

/// Where the first character begins that is not UTF-8; npos if there is none.
std::size_t first_not_utf8(std::string_view bytes);

/// The bytes of each character (code point). In text that is not UTF-8, stray continuation bytes belong to the
/// character before them.
ESPALIER_EXPORT std::vector<std::string_view> characters_of(std::string_view text);

}  // namespace espalier::data
