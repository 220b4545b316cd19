/// A status line on the terminal that says what is being measured. Prints nothing without a terminal.
#pragma once

#include <string>
#include <string_view>

namespace espalier::bench {

class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(std::string_view text);
  /// Call before anything else is printed.
  void clear();

 private:
  bool terminal_;
  std::size_t shown_ = 0;
};

}  // namespace espalier::bench
