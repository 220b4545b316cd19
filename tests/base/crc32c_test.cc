#include "espalier/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

TEST(Crc32c, AgreesWithPublishedValues) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);  // the check value of the catalogues of CRCs
  // RFC 3720, appendix B.4
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  std::string rising;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  EXPECT_EQ(crc32c(rising), 0x46DD794EU);
}

}  // namespace
}  // namespace espalier
