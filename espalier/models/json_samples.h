/// json_samples(): records that a schema could have been found out from.
///
/// Thread safety: a plain function.
#pragma once

#include <vector>

#include "espalier/data/value.h"
#include "espalier/models/json_schema.h"

namespace espalier::models {

/// Records without labels that together have, at every place, every kind of value that the schema knows there, missing
/// fields, and lists of none, one and several items.
std::vector<Value> json_samples(const JsonSchema& schema);

}  // namespace espalier::models
