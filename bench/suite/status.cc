#include "bench/suite/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "espalier/train/terminal.h"

namespace espalier::bench {

StatusLine::StatusLine() : terminal_(train::is_terminal(stderr)) {}

void StatusLine::show(std::string_view text) {
  if (!terminal_) return;
  clear();
  const auto room = static_cast<std::size_t>(std::max(train::terminal_width(stderr) - 1, 0));
  shown_ = std::min(text.size(), room);
  fmt::print(stderr, "{}", text.substr(0, shown_));
  std::fflush(stderr);
}

void StatusLine::clear() {
  if (shown_ == 0) return;
  fmt::print(stderr, "\r{:{}}\r", "", shown_);
  std::fflush(stderr);
  shown_ = 0;
}

}  // namespace espalier::bench
