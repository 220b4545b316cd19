/// The progress bar, with a clock and an output of the test's own.
#include "espalier/train/progress.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::train {
namespace {

class ProgressBar : public ::testing::Test {
 protected:
  ProgressOutput output(bool terminal) {
    return {.write = [this](std::string_view text) { written_.emplace_back(text); },
            .now = [this] { return now_; },
            .width = [this] { return width_; },
            .terminal = terminal,
            .utf8 = utf8_};
  }

  std::vector<std::string> written_;
  double now_ = 1000;
  int width_ = 80;
  bool utf8_ = false;
};

TEST_F(ProgressBar, ATerminalShowsOneLine) {
  Progress progress({.title = "epoch 1/3", .total = 1000}, output(true));
  now_ += 10;
  progress.update(420, 1.23456, 0.5678);
  ASSERT_EQ(written_.size(), 1u);
  EXPECT_EQ(written_[0], "\repoch 1/3 [########            ]  42%  42/s  0:14 left  loss 1.2346  acc 56.78%");
  EXPECT_EQ(written_[0].size(), 80u);  // the carriage return and 79 columns
}

TEST_F(ProgressBar, BlocksAreDrawnWhereUtf8IsUnderstood) {
  utf8_ = true;
  Progress progress({.title = "", .total = 16}, output(true));
  now_ += 1;
  width_ = 40;
  progress.update(9);
  EXPECT_EQ(written_[0], "\r█████████         56%  9.0/s  0:01 left");
}

TEST_F(ProgressBar, ALineNeverFillsTheTerminal) {
  for (const bool utf8 : {false, true}) {
    utf8_ = utf8;
    for (width_ = 0; width_ < 130; ++width_) {
      written_.clear();
      Progress progress({.title = "epoch", .total = 1000}, output(true));
      now_ += 100;
      progress.update(999, 0.5, 0.25);
      int columns = 0;
      for (const char c : written_[0]) columns += (c & 0xC0) != 0x80 ? 1 : 0;
      EXPECT_LE(columns - 1, std::max(width_ - 1, 0)) << written_[0];
    }
  }
}

TEST_F(ProgressBar, WhatMattersLeastGoesFirstWhenThereIsNoRoom) {
  const auto line = [&](int width) {
    written_.clear();
    width_ = width;
    Progress progress({.title = "epoch", .total = 1000}, output(true));
    now_ += 100;
    progress.update(500, 0.5, 0.25);
    return written_[0];
  };
  EXPECT_EQ(line(62), "\repoch [###  ]  50%  5.0/s  1:40 left  loss 0.5000  acc 25.00%");
  EXPECT_EQ(line(54), "\repoch  50%  5.0/s  1:40 left  loss 0.5000  acc 25.00%");
  EXPECT_EQ(line(50), "\r 50%  5.0/s  1:40 left  loss 0.5000  acc 25.00%");
  EXPECT_EQ(line(45), "\r 50%  1:40 left  loss 0.5000  acc 25.00%");
  EXPECT_EQ(line(29), "\repoch  50%  loss 0.5000");
  EXPECT_EQ(line(22), "\r 50%  loss 0.5000");
  EXPECT_EQ(line(15), "\repoch  50%");
  EXPECT_EQ(line(4), "\r");
}

TEST_F(ProgressBar, ItIsDrawnTenTimesASecondAtMost) {
  Progress progress({.title = "", .total = 100'000}, output(true));
  for (int i = 0; i < 100'000; ++i) {
    now_ += 1e-4;
    progress.update(i);
  }
  EXPECT_GE(written_.size(), 95u);
  EXPECT_LE(written_.size(), 101u);
}

TEST_F(ProgressBar, AShorterLineCoversTheLongerOne) {
  Progress progress({.title = "", .total = 0}, output(true));
  now_ += 1;
  progress.update(1000, 10.0);
  now_ += 1;
  progress.update(1000);
  EXPECT_EQ(written_[0], "\r1000  1000/s  loss 10.0000");
  EXPECT_EQ(written_[1], "\r1000  500/s               ");
}

TEST_F(ProgressBar, TheBarKeepsItsWidthWhenFiguresChangeTheirs) {
  Progress progress({.title = "", .total = 10'000}, output(true));
  width_ = 40;
  now_ += 1;
  progress.update(998);
  now_ += 1;
  progress.update(2002);
  now_ += 1;
  progress.update(2994);
  width_ = 60;
  now_ += 1;
  progress.update(4000);
  EXPECT_EQ(written_, (std::vector<std::string>{"\r[#             ]   9%  998/s  0:09 left",
                                                "\r[###          ]  20%  1001/s  0:08 left",
                                                "\r[####         ]  29%  998/s  0:07 left ",
                                                "\r[############                  ]  40%  1000/s  0:06 left"}));
}

TEST_F(ProgressBar, FinishLeavesACleanLine) {
  Progress progress({.title = "epoch", .total = 100}, output(true));
  now_ += 5;
  progress.update(50, 0.5);
  now_ += 0.01;
  progress.update(100, 0.25);  // too early to draw
  now_ += 4.99;
  progress.finish();
  progress.finish();
  progress.update(100);
  ASSERT_EQ(written_.size(), 3u);
  EXPECT_EQ(written_[1], "\repoch [##############################] 100%  10/s  in 0:10  loss 0.2500  ");
  EXPECT_EQ(written_[2], "\n");
}

TEST_F(ProgressBar, AnUnfinishedLineIsEndedSoThatAMessageStandsAlone) {
  try {
    Progress progress({.title = "epoch", .total = 100}, output(true));
    now_ += 1;
    progress.update(50);
    throw std::runtime_error("the disk is full");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(written_.back(), "\n");
  }
  written_.clear();
  { const Progress never_drawn({.title = "epoch", .total = 100}, output(true)); }
  { const Progress plain({.title = "epoch", .total = 100}, output(false)); }
  EXPECT_TRUE(written_.empty());
}

TEST_F(ProgressBar, ElsewhereThereIsALineEveryFewSecondsAndTheLast) {
  {
    Progress progress({.title = "epoch 1/3", .total = 1200}, output(false));
    for (int i = 1; i <= 1200; ++i) {
      now_ = 1000 + i * 0.01;
      progress.update(i, 1.5, 0.25);
    }
    progress.finish();
  }
  EXPECT_EQ(written_, (std::vector<std::string>{
                          "epoch 1/3: 500 of 1200 (41%), 100/s, 0:07 left, loss 1.5000, accuracy 25.00%\n",
                          "epoch 1/3: 1000 of 1200 (83%), 100/s, 0:02 left, loss 1.5000, accuracy 25.00%\n",
                          "epoch 1/3: 1200 of 1200 (100%) in 0:12, 100/s, loss 1.5000, accuracy 25.00%\n"}));
}

TEST_F(ProgressBar, AnUnknownTotalAndNoTimeAreQuiet) {
  Progress progress({}, output(false));
  progress.finish();
  EXPECT_EQ(written_, (std::vector<std::string>{"0 in 0:00\n"}));
}

TEST_F(ProgressBar, ALossThatIsNotANumberIsShown) {
  Progress progress({.title = "", .total = 10}, output(false));
  now_ += 2;
  progress.update(10, std::numeric_limits<double>::quiet_NaN());
  progress.finish();
  EXPECT_EQ(written_, (std::vector<std::string>{"10 of 10 (100%) in 0:02, 5.0/s, loss nan\n"}));
}

TEST_F(ProgressBar, TellsRateAndTime) {
  Progress progress({.title = "", .total = 10}, output(false));
  EXPECT_EQ(progress.rate(), 0.0);
  now_ += 4;
  progress.update(10);
  EXPECT_DOUBLE_EQ(progress.seconds(), 4.0);
  EXPECT_DOUBLE_EQ(progress.rate(), 2.5);
}

TEST(ProgressOutput, AFileIsNoTerminal) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ProgressOutput output = ProgressOutput::to(file);
  EXPECT_FALSE(output.terminal);
  {
    Progress progress({.title = "epoch", .total = 2}, output);
    progress.update(1);
    progress.finish();
  }
  std::rewind(file);
  char text[100] = {};
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  EXPECT_TRUE(std::string(text, length).starts_with("epoch: 1 of 2 (50%) in 0:00"));
}

TEST(DurationText, IsMinutesAndSeconds) {
  EXPECT_EQ(duration_text(0), "0:00");
  EXPECT_EQ(duration_text(9.4), "0:09");
  EXPECT_EQ(duration_text(65), "1:05");
  EXPECT_EQ(duration_text(3599.6), "1:00:00");
  EXPECT_EQ(duration_text(7200), "2:00:00");
  EXPECT_EQ(duration_text(-1), "0:00");
  EXPECT_EQ(duration_text(1e300), "99:59:59");
  EXPECT_EQ(duration_text(std::nan("")), "0:00");
}

}  // namespace
}  // namespace espalier::train
