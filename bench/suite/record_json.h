/// Records as JSON, for other programs to read.
#pragma once

#include <filesystem>

#include "bench/suite/record.h"

namespace espalier::bench {

/// Writes an array with one object per record. The file is written completely or not at all.
void write_json(const std::filesystem::path& path, const Records& records);

}  // namespace espalier::bench
