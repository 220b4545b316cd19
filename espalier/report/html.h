/// Text made safe for pages and pictures.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier::report {

/// The text for HTML, SVG or XML, between tags or inside quotes: `&`, `<`, `>` and both quotes are replaced, so that no
/// text ends a tag, an attribute or a script. Characters that pages may not contain are shown as pictures of them (␀);
/// bytes that are no UTF-8, as �.
ESPALIER_EXPORT std::string escaped(std::string_view text);

/// The first `most` characters (code points) of a text, and whether that is all of it.
struct Clipped {
  std::string_view text;
  bool whole = true;
};
ESPALIER_EXPORT Clipped clipped(std::string_view text, std::size_t most);

/// Text from data, escaped, in a <bdi> of its own: its direction does not turn the words around it.
ESPALIER_EXPORT std::string isolated(std::string_view text);

/// The same, at most `most` characters, ending in "…" if that is not all.
ESPALIER_EXPORT std::string isolated_start(std::string_view text, std::size_t most);

}  // namespace espalier::report
