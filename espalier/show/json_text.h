/// Text in JSON that may stand in the middle of a page.
#pragma once

#include <string>
#include <string_view>

namespace espalier::show {

/// In quotes. Nothing in it ends a script or a string: `<`, `>`, `&`, quotes and control characters are escaped, and
/// bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

}  // namespace espalier::show
