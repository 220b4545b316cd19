/// What is wrong with a text that simdjson refuses, and where. simdjson itself tells neither the place nor what it
/// expected there; so a text that it refused is read once more, slowly.
#pragma once

#include <cstddef>
#include <string_view>

#include "espalier/data/text_source.h"

namespace espalier::data {

/// Throws the DataError of the first mistake. `reason` is for the message of an InternalError, if there is none.
[[noreturn]] void refuse_json(const TextSource& source, std::string_view reason);

/// Throws a DataError at the "{" of an object: the one of which `before` others begin before it.
[[noreturn]] void refuse_json_object(const TextSource& source, std::size_t before, std::string_view message);

}  // namespace espalier::data
