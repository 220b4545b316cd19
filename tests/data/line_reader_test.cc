/// Lines of files, of texts and of damaged input.
#include "espalier/data/line_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/text_file.h"
#include "tests/data/temporary_file.h"
#include "tests/support/refusal.h"

namespace espalier::data {
namespace {

using espalier::testing::refusal_of;

std::vector<std::string> lines_of(const Input& input) {
  LineReader reader(input);
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> lines_of_text(std::string text) { return lines_of(Input::text(std::move(text), "x")); }

using Lines = std::vector<std::string>;

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  EXPECT_EQ(lines_of_text(""), Lines{});
  EXPECT_EQ(lines_of_text("\n"), Lines{""});
  EXPECT_EQ(lines_of_text("a\n\nb\r\nc"), (Lines{"a", "", "b", "c"}));
  EXPECT_EQ(lines_of_text("\xEF\xBB\xBF"
                          "a\n\xEF\xBB\xBF"
                          "b"),
            (Lines{"a",
                   "\xEF\xBB\xBF"
                   "b"}));
}

TEST(LineReader, ReadsLinesLongerThanItsBuffer) {
  const std::string longer(500'000, 'a');
  EXPECT_EQ(lines_of_text(longer + "\n" + longer + "b"), (Lines{longer, longer + "b"}));
}

TEST(LineReader, ReadsGzipUnderAnyName) {
  const TemporaryFile plain("plain.gz", "a\nb\n");
  EXPECT_EQ(lines_of(plain.path()), (Lines{"a", "b"}));
  const TemporaryFile packed("packed.txt.gz", "");
  TextWriter writer(packed.path());
  writer.write("c\nd");
  writer.commit();
  EXPECT_EQ(lines_of(packed.path()), (Lines{"c", "d"}));
}

TEST(LineReader, ReadsStandardInput) {
  const TemporaryFile file("input.txt", "a\nb\n");
  const int saved = ::dup(STDIN_FILENO);
  const int opened = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::dup2(opened, STDIN_FILENO), STDIN_FILENO);
  EXPECT_EQ(lines_of("-"), (Lines{"a", "b"}));
  EXPECT_EQ(Input("-").name(), "standard input");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(opened);
}

TEST(LineReader, RefusesOtherEncodingsWithTheirPlace) {
  EXPECT_EQ(refusal_of([] { lines_of_text("a\nb\xE9t\xE9\n"); }), "x:2:2: expected text in UTF-8, not \"\\xe9t\\xe9\"");
  EXPECT_EQ(refusal_of([] {
              lines_of_text(
                  "\xFF\xFE"
                  "a");
            }),
            "x:1:1: expected text in UTF-8, not \"\\xff\\xfea\"");
  EXPECT_EQ(refusal_of([] { lines_of_text("ab\xC3"); }), "x:1:3: expected text in UTF-8, not \"\\xc3\"");
}

TEST(LineReader, RefusesALineOf100MegabytesAndGoesOnAfterIt) {
  LineReader reader(Input::text("a\n" + std::string(100'000'000, 'b') + "\nc", "x"));
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(refusal_of([&] { reader.next(line); }), "x:2:1: expected a line of at most 16 MiB");
  EXPECT_TRUE(reader.readable());
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "c");
  EXPECT_EQ(reader.line_number(), 3);
  EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, SaysThatAGzipStreamEndsEarly) {
  const TemporaryFile packed("packed.gz", "");
  TextWriter writer(packed.path());
  for (int i = 0; i < 50'000; ++i) writer.write(std::to_string(i * 7919 % 50'021) + "\n");
  writer.commit();
  std::filesystem::resize_file(packed.path(), std::filesystem::file_size(packed.path()) / 2);
  LineReader reader(packed.path());
  EXPECT_EQ(refusal_of([&] {
              for (std::string_view line; reader.next(line);) continue;
            }),
            packed.name() + ": expected a whole gzip stream, but it ends early");
  EXPECT_GT(reader.line_number(), 10'000);
  EXPECT_FALSE(reader.readable());
}

TEST(LineReader, GivesBackLines) {
  LineReader reader(Input::text("a\nb\nc\n", "x"));
  std::string_view line;
  ASSERT_TRUE(reader.next(line) && reader.next(line));
  reader.put_back({"a", "b"});
  EXPECT_EQ(reader.line_number(), 0);
  for (const std::string expected : {"a", "b", "c"}) {
    ASSERT_TRUE(reader.next(line));
    EXPECT_EQ(line, expected);
  }
  EXPECT_EQ(reader.line_number(), 3);
  EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, SaysThatAFileIsMissing) { EXPECT_THROW(lines_of("no such file"), ResourceError); }

}  // namespace
}  // namespace espalier::data
