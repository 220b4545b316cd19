#include "espalier/train/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace espalier::train {

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;  // POSIX: an empty one counts as not set
    std::string text(value);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

bool is_terminal(std::FILE* stream) {
  const int file = fileno(stream);
  return file >= 0 && ::isatty(file) == 1;
}

int terminal_width(std::FILE* stream) {
  winsize size{};
  if (const int file = fileno(stream); file >= 0 && ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  constexpr int kUsual = 80;
  const char* columns = std::getenv("COLUMNS");
  const long width = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return width > 0 && width < 10'000 ? static_cast<int>(width) : kUsual;
}

std::string bar(double share, int width, bool utf8) {
  static constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (width <= 0) return {};
  share = share > 0 ? std::min(share, 1.0) : 0.0;  // NaN becomes 0
  const int steps = utf8 ? 8 : 1;
  const int filled = static_cast<int>(std::lround(share * width * steps));
  std::string text;
  for (int i = 0; i < filled / steps; ++i) text += utf8 ? "█" : "#";
  int columns = filled / steps;
  if (utf8 && filled % steps != 0) {
    text += kEighths[static_cast<std::size_t>(filled % steps)];
    ++columns;
  }
  return text.append(static_cast<std::size_t>(width - columns), ' ');
}

std::string histogram_text(std::string_view number_title, std::string_view count_title,
                           std::span<const std::int64_t> counts, bool utf8, int bar_width) {
  std::int64_t total = 0;
  std::int64_t largest = 0;
  for (const std::int64_t count : counts) {
    total += count;
    largest = std::max(largest, count);
  }
  std::string text = fmt::format("{:>10}  {:>11}\n", number_title, count_title);
  std::size_t begin = 0;
  std::size_t end = counts.size();
  while (begin < end && counts[begin] == 0) ++begin;
  while (end > begin && counts[end - 1] == 0) --end;
  for (std::size_t i = begin; i < end; ++i) {
    const auto count = static_cast<double>(counts[i]);
    std::string line =
        fmt::format("{:>10}  {:>11}  {:5.1f}%  {}", i, counts[i], 100 * count / static_cast<double>(total),
                    bar(count / static_cast<double>(largest), bar_width, utf8));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace espalier::train
