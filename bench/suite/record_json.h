/// Records as JSON, for other programs to read.
#pragma once

#include <filesystem>

#include "bench/suite/record.h"

namespace espalier::bench {

/// Writes an array with one object a record, whole or not at all.
void write_json(const std::filesystem::path& path, const Records& records);

}  // namespace espalier::bench
