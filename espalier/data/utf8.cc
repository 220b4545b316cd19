#include "espalier/data/utf8.h"

#include <simdjson.h>

namespace espalier::data {

bool is_utf8(std::string_view bytes) { return simdjson::validate_utf8(bytes); }

}  // namespace espalier::data
