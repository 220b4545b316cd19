/// The beginning of a Value's text, for messages.
#pragma once

#include <cstddef>
#include <string>

#include "espalier/data/value.h"

namespace espalier {

/// At most so many characters of to_text(), and "..." if that is longer. Costs no more than it writes, however large
/// the Value is: the text of a Value that shares its parts may be exponentially longer than the Value.
std::string short_text(const Value& value, std::size_t most);

}  // namespace espalier
