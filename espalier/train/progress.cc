#include "espalier/train/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>
#include <vector>

#include "espalier/train/terminal.h"

namespace espalier::train {
namespace {

constexpr double kRedrawInterval = 0.1;
constexpr int kWidestBar = 30;
constexpr int kNarrowestBar = 5;

// Columns of a text whose characters are all one column wide: UTF-8 continuation bytes do not count.
int columns(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string rate_text(double rate) { return fmt::format("{:.{}f}", rate, rate < 10 ? 1 : 0); }

}  // namespace

std::string duration_text(double seconds) {
  constexpr double kLongest = 359'999;  // 99:59:59
  const auto whole = seconds > 0 ? static_cast<std::int64_t>(std::lround(std::min(seconds, kLongest))) : 0;
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

ProgressOutput ProgressOutput::to(std::FILE* stream) {
  return {.write =
              [stream](std::string_view text) {
                std::fwrite(text.data(), 1, text.size(), stream);
                std::fflush(stream);
              },
          .now =
              [] {
                const auto since = std::chrono::steady_clock::now().time_since_epoch();
                return std::chrono::duration<double>(since).count();
              },
          .width = [stream] { return terminal_width(stream); },
          .terminal = is_terminal(stream),
          .utf8 = locale_is_utf8()};
}

Progress::Progress(ProgressOptions options, ProgressOutput output)
    : options_(std::move(options)), output_(std::move(output)), start_(output_.now()), now_(start_) {}

Progress::~Progress() {
  if (finished_ || !output_.terminal || columns_drawn_ == 0) return;
  try {
    output_.write("\n");
  } catch (const std::exception&) {
    // A destructor has nobody to tell.
  }
}

double Progress::seconds() const { return now_ - start_; }

double Progress::rate() const { return seconds() > 0 ? static_cast<double>(done_) / seconds() : 0.0; }

std::int64_t Progress::percent() const { return done_ * 100 / options_.total; }

void Progress::update(std::int64_t done, std::optional<double> loss, std::optional<double> accuracy) {
  if (finished_) return;
  done_ = done;
  loss_ = loss;
  accuracy_ = accuracy;
  now_ = output_.now();
  // The first plain line comes after an interval too: a short job then writes one line in all.
  const double interval = output_.terminal ? kRedrawInterval : options_.line_interval;
  const bool at_once = output_.terminal && !last_drawn_;
  if (at_once || now_ - last_drawn_.value_or(start_) >= interval) draw();
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  now_ = output_.now();
  draw();
  if (output_.terminal) output_.write("\n");
}

void Progress::draw() {
  last_drawn_ = now_;
  if (!output_.terminal) return output_.write(plain_line() + '\n');
  const int room = std::max(output_.width() - 1, 0);  // a full line would move the cursor to the next one
  if (room != std::exchange(room_, room)) bar_width_ = kWidestBar;
  std::string line = terminal_line();
  const int drawn = columns(line);
  // What a longer line left behind is covered with spaces; clearing it by an escape code would not work everywhere.
  line.append(static_cast<std::size_t>(std::max(std::min(columns_drawn_, room) - drawn, 0)), ' ');
  columns_drawn_ = drawn;
  output_.write('\r' + line);
}

std::string Progress::terminal_line() {
  struct Part {
    std::string text;
    int rank;  // the lowest goes first when there is no room
  };
  std::vector<Part> parts;
  if (options_.total > 0) {
    parts.push_back({fmt::format("{:3}%", percent()), 9});
  } else {
    parts.push_back({std::to_string(done_), 9});
  }
  if (rate() > 0) {
    parts.push_back({rate_text(rate()) + "/s", 3});
    if (finished_) {
      parts.push_back({"in " + duration_text(seconds()), 4});
    } else if (options_.total > 0) {
      parts.push_back({duration_text(static_cast<double>(options_.total - done_) / rate()) + " left", 4});
    }
  }
  if (loss_) parts.push_back({fmt::format("loss {:.4f}", *loss_), 6});
  if (accuracy_) parts.push_back({fmt::format("acc {:.2f}%", 100 * *accuracy_), 5});

  const auto needed = [&] {
    int sum = 0;
    for (const Part& part : parts) sum += columns(part.text) + 2;
    return sum - 2;
  };
  while (parts.size() > 1 && needed() > room_)
    parts.erase(
        std::min_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.rank < b.rank; }));

  std::string line;
  int left = room_ - needed();
  if (left < 0) return line;
  const int title = options_.title.empty() ? 0 : columns(options_.title) + 1;
  if (title > 0 && left >= title) {
    line += options_.title + ' ';
    left -= title;
  }
  const int edges = output_.utf8 ? 1 : 3;  // a space after it; where blocks cannot show its end, brackets do
  if (options_.total > 0 && left >= kNarrowestBar + edges) {
    // Never wider again, so that figures that change their length do not make it jump.
    bar_width_ = std::min(bar_width_, left - edges);
    const std::string blocks =
        bar(static_cast<double>(done_) / static_cast<double>(options_.total), bar_width_, output_.utf8);
    line += output_.utf8 ? blocks + ' ' : '[' + blocks + "] ";
  }
  for (const Part& part : parts) (line += &part == &parts.front() ? "" : "  ") += part.text;
  return line;
}

std::string Progress::plain_line() const {
  std::string line = options_.title;
  if (!line.empty()) line += ": ";
  line += std::to_string(done_);
  if (options_.total > 0) line += fmt::format(" of {} ({}%)", options_.total, percent());
  if (finished_) line += " in " + duration_text(seconds());
  if (rate() > 0) {
    line += fmt::format(", {}/s", rate_text(rate()));
    if (!finished_ && options_.total > 0)
      line += fmt::format(", {} left", duration_text(static_cast<double>(options_.total - done_) / rate()));
  }
  if (loss_) line += fmt::format(", loss {:.4f}", *loss_);
  if (accuracy_) line += fmt::format(", accuracy {:.2f}%", 100 * *accuracy_);
  return line;
}

}  // namespace espalier::train
