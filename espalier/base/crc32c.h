/// CRC-32C (Castagnoli), as iSCSI (RFC 3720, appendix B.4) and TFRecord files use it.
#pragma once

#include <cstdint>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier {

/// Of "123456789": 0xE3069283. Reads a byte at a time: meant for short records.
ESPALIER_EXPORT std::uint32_t crc32c(std::string_view bytes);

}  // namespace espalier
