#include "espalier/data/line_reader.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "espalier/data/byte_file.h"
#include "espalier/data/text_file.h"
#include "espalier/data/utf8.h"

namespace espalier::data {

LineReader::LineReader(Input input) : source_(std::make_unique<ByteReader>(std::move(input))) {}
LineReader::~LineReader() = default;

bool LineReader::refill() {
  used_ = 0;
  buffer_.clear();
  readable_ = false;  // unless this succeeds
  const bool more = source_->read_piece(buffer_);
  readable_ = true;
  return more;
}

// A line that is within the buffer is not copied. False at the end.
bool LineReader::gather(std::string_view& line) {
  line_.clear();
  bool too_long = false;
  bool begun = false;
  while (used_ < buffer_.size() || refill()) {
    const std::string_view rest = std::string_view(buffer_).substr(used_);
    const std::size_t end = rest.find('\n');
    const bool ended = end != std::string_view::npos;
    const std::string_view piece = rest.substr(0, end);
    used_ += piece.size() + (ended ? 1 : 0);
    too_long = too_long || line_.size() + piece.size() > kLongestLine;
    if (ended && !begun) {
      line = piece;
      break;
    }
    begun = true;
    if (!too_long) line_ += piece;
    if (ended) break;
  }
  if (begun) {
    line = line_;
  } else if (buffer_.empty()) {
    return false;
  }
  ++line_number_;
  if (too_long) throw error_at(1, fmt::format("expected a line of at most {} MiB", kLongestLine >> 20));
  return true;
}

void LineReader::check(std::string_view line) const {
  if (is_utf8(line)) return;
  const std::size_t at = first_not_utf8(line);
  throw error_at(at + 1, fmt::format("expected text in UTF-8, not {}", quoted(line.substr(at, 4))));
}

bool LineReader::next(std::string_view& line) {
  if (!again_.empty()) {
    line_ = std::move(again_.front());
    again_.pop_front();
    line = line_;
    ++line_number_;
    return true;
  }
  if (!gather(line)) return false;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line_number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  check(line);
  return true;
}

void LineReader::put_back(std::vector<std::string> lines) {
  line_number_ -= static_cast<std::int64_t>(lines.size());
  again_.insert(again_.begin(), std::move_iterator(lines.begin()), std::move_iterator(lines.end()));
}

const std::string& LineReader::name() const { return source_->name(); }

DataError LineReader::error_at(std::size_t column, std::string_view message) const {
  return error_at(line_number_, column, message);
}

DataError LineReader::error_at(std::int64_t line, std::size_t column, std::string_view message) const {
  return DataError(fmt::format("{}:{}:{}: {}", name(), line, column, message));
}

}  // namespace espalier::data
