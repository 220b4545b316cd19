/// Whether bytes are UTF-8.
#pragma once

#include <string_view>

namespace espalier::data {

bool is_utf8(std::string_view bytes);

}  // namespace espalier::data
