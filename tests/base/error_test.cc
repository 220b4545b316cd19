#include "espalier/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace espalier {
namespace {

std::string shown(const std::string& text) { return DataError(text).what(); }

TEST(Error, KeepsPrintableText) {
  EXPECT_EQ(shown("first line\n\tsecond \"line\""), "first line\n\tsecond \"line\"");
  EXPECT_EQ(shown("d\u00e9j\u00e0 \u6f22\u5b57 \U0001f333 \u00a0"), "d\u00e9j\u00e0 \u6f22\u5b57 \U0001f333 \u00a0");
}

TEST(Error, EscapesControlCharacters) {
  EXPECT_EQ(shown("\x1b[31mred\a\r"), "\\x1b[31mred\\x07\\x0d");
  EXPECT_EQ(shown(std::string("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(shown("\xc2\x9b"), "\\xc2\\x9b");  // U+009B, which some terminals take for "\x1b["
}

TEST(Error, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(shown("a\xff"), "a\\xff");
  EXPECT_EQ(shown("\x80"), "\\x80");
  EXPECT_EQ(shown("\xc3"), "\\xc3");                                                 // cut off
  EXPECT_EQ(shown("\xe6\xbc!"), "\\xe6\\xbc!");                                      // cut off
  EXPECT_EQ(shown("\xc0\xaf"), "\\xc0\\xaf");                                        // overlong
  EXPECT_EQ(shown("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");                               // overlong
  EXPECT_EQ(shown("\xf0\x8f\xbf\xbf"), "\\xf0\\x8f\\xbf\\xbf");                      // overlong
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");                               // a surrogate
  EXPECT_EQ(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");                      // above U+10FFFF
  EXPECT_EQ(shown("\xee\x80\x80\xf4\x8f\xbf\xbf"), "\xee\x80\x80\xf4\x8f\xbf\xbf");  // the borders
}

}  // namespace
}  // namespace espalier
