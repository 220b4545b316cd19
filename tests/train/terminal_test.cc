/// Bars and histograms as text, and what the environment says of the terminal.
#include "espalier/train/terminal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace espalier::train {
namespace {

class Environment : public ::testing::Test {
 protected:
  Environment() {
    for (const char* name : kNames) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      unsetenv(name);
    }
  }
  ~Environment() override {
    for (const char* name : kNames) {
      unsetenv(name);
      if (before_[name]) setenv(name, before_[name]->c_str(), 1);
    }
  }

  static constexpr const char* kNames[] = {"LC_ALL", "LC_CTYPE", "LANG", "COLUMNS"};
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Environment, TheFirstLocaleVariableThatIsSetDecides) {
  EXPECT_FALSE(locale_is_utf8());
  setenv("LANG", "de_DE.UTF-8", 1);
  EXPECT_TRUE(locale_is_utf8());
  setenv("LC_CTYPE", "en_US.ISO-8859-1", 1);
  EXPECT_FALSE(locale_is_utf8());
  setenv("LC_ALL", "C.utf8", 1);
  EXPECT_TRUE(locale_is_utf8());
  setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(locale_is_utf8());
  setenv("LC_ALL", "", 1);
  setenv("LC_CTYPE", "", 1);
  EXPECT_TRUE(locale_is_utf8());
}

TEST_F(Environment, WithoutATerminalColumnsOrEightyDecides) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(is_terminal(file));
  EXPECT_EQ(terminal_width(file), 80);
  setenv("COLUMNS", "132", 1);
  EXPECT_EQ(terminal_width(file), 132);
  setenv("COLUMNS", "-4", 1);
  EXPECT_EQ(terminal_width(file), 80);
  setenv("COLUMNS", "wide", 1);
  EXPECT_EQ(terminal_width(file), 80);
  std::fclose(file);
}

TEST(Bar, FillsItsShareAndPadsTheRest) {
  EXPECT_EQ(bar(0, 4, false), "    ");
  EXPECT_EQ(bar(0.5, 4, false), "##  ");
  EXPECT_EQ(bar(1, 4, false), "####");
  EXPECT_EQ(bar(0, 4, true), "    ");
  EXPECT_EQ(bar(0.5, 3, true), "█▌ ");
  EXPECT_EQ(bar(1, 3, true), "███");
  EXPECT_EQ(bar(7, 2, false), "##");
  EXPECT_EQ(bar(-1, 2, false), "  ");
  EXPECT_EQ(bar(std::nan(""), 2, true), "  ");
  EXPECT_EQ(bar(1, 0, true), "");
  EXPECT_EQ(bar(1, -3, false), "");
}

TEST(Histogram, IsATableWithBars) {
  const std::vector<std::int64_t> counts = {0, 400, 0, 600, 0};
  EXPECT_EQ(histogram_text("depth", "expressions", counts, false, 6),
            "     depth  expressions\n"
            "         1          400   40.0%  ####\n"
            "         2            0    0.0%\n"
            "         3          600   60.0%  ######\n");
  EXPECT_EQ(histogram_text("depth", "expressions", {}, false), "     depth  expressions\n");
}

}  // namespace
}  // namespace espalier::train
