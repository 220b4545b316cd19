/// The look of a page and its script. Internal.
#pragma once

#include <string_view>

namespace espalier::report {

extern const std::string_view kPageStyle;
/// Arrow keys in charts. Everything else works without it.
extern const std::string_view kPageScript;

}  // namespace espalier::report
