/// The bytes of a message as a Value, by the tables of its schema, without recursion.
#pragma once

#include <string_view>

#include "espalier/data/proto_schema.h"
#include "espalier/data/value.h"

namespace espalier::data {

/// Refuses (DataError) what is not such a message: see ProtoReader::read().
Value decode_proto(const ProtoMessage& type, std::string_view bytes, std::string_view source);

}  // namespace espalier::data
