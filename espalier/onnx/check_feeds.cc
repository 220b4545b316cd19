/// check_feeds(): goes through a schedule as the file would, with the numbers of rows alone.
#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/onnx/schedule.h"

namespace espalier::onnx {
namespace {

class FeedCheck {
 public:
  FeedCheck(const Format& format, std::span<const Feed> feeds)
      : format_(format), feeds_(feeds), states_(format.widths.size(), 0) {}

  void run() {
    for (const std::int64_t width : format_.row_widths) find(rows_name(width), true, {-1, width});
    if (format_.has_numbers) numbers_ = find(kNumbers, true, {-1}).shape[0];
    lengths_ = find(kLengths, false, {-1, static_cast<std::int64_t>(format_.pieces())}).integers;
    rest_ = find(kSchedule, false, {-1}).integers;
    for (step_ = 0; !lengths_.empty(); ++step_) check_step();
    if (!rest_.empty()) refuse(fmt::format("the schedule goes on for {} numbers after the last step", rest_.size()));
    for (const OutputFormat& output : format_.outputs) {
      const std::string name = output_rows_name(output.name);
      const std::int64_t rows = states_[format_.place_of(output.shape.elements())];
      for (const std::int64_t row : find(name, false, {-1}).integers)
        if (row < 0 || row >= rows)
          refuse(fmt::format("input \"{}\" reads row {} of the last state of width {}, which has {} rows", name, row,
                             output.shape.elements(), rows));
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& sentence) { throw UsageError("onnx: " + sentence); }
  [[noreturn]] void refuse_in_step(std::string_view what, const std::string& sentence) const {
    refuse(fmt::format("step {}, {}: {}", step_, what, sentence));
  }

  /// The input of this name. A size of -1 may be any.
  const Feed& find(std::string_view name, bool is_float, const std::vector<std::int64_t>& shape) const {
    const auto feed = std::find_if(feeds_.begin(), feeds_.end(), [&](const Feed& each) { return each.name == name; });
    if (feed == feeds_.end()) refuse(fmt::format("input \"{}\" is missing", name));
    if (feed->is_float != is_float)
      refuse(fmt::format("input \"{}\" must be {}", name, is_float ? "float32" : "int64"));
    bool fits = feed->shape.size() == shape.size();
    std::int64_t elements = 1;
    for (std::size_t a = 0; a < feed->shape.size() && fits; ++a) {
      fits =
          feed->shape[a] >= 0 && (shape[a] < 0 || shape[a] == feed->shape[a]) && feed->shape[a] <= Shape::kMostElements;
      elements *= std::max<std::int64_t>(feed->shape[a], 0);
      fits = fits && elements <= Shape::kMostElements;
    }
    if (!fits)
      refuse(fmt::format("input \"{}\" has shape [{}], and [{}] is expected, where -1 may be any size", name,
                         fmt::join(feed->shape, ", "), fmt::join(shape, ", ")));
    const std::int64_t given = is_float ? std::ssize(feed->numbers) : std::ssize(feed->integers);
    if (given != elements)
      refuse(fmt::format("input \"{}\" has {} numbers, and its shape [{}] has {} elements", name, given,
                         fmt::join(feed->shape, ", "), elements));
    return *feed;
  }

  /// The next piece of the schedule.
  std::span<const std::int64_t> take(std::string_view what) {
    const std::int64_t length = lengths_[0];
    lengths_ = lengths_.subspan(1);
    if (length < 0 || length > std::ssize(rest_))
      refuse_in_step(what, fmt::format("a length of {}, and the schedule has {} numbers left", length, rest_.size()));
    const std::span<const std::int64_t> piece = rest_.first(at(length));
    rest_ = rest_.subspan(at(length));
    return piece;
  }
  /// A piece whose numbers are from 0 to below `limit`.
  std::span<const std::int64_t> take(std::string_view what, std::int64_t limit) {
    const std::span<const std::int64_t> piece = take(what);
    for (const std::int64_t number : piece)
      if (number < 0 || number >= limit)
        refuse_in_step(what, fmt::format("it reads row {}, and there are {}", number, limit));
    return piece;
  }

  void check_step() {
    std::vector<std::int64_t> next;
    for (std::size_t c = 0; c < states_.size(); ++c)
      next.push_back(std::ssize(take(fmt::format("state of width {}", format_.widths[c]), states_[c])));
    for (const SignatureFormat& signature : format_.signatures) {
      const std::int64_t count = signature.ragged ? check_ragged(signature) : check_signature(signature);
      for (const std::int64_t width : signature.results) next[format_.place_of(width)] += count;
    }
    states_ = std::move(next);
  }
  std::int64_t check_signature(const SignatureFormat& signature) {
    std::int64_t count = -1;
    const auto agree = [&](std::int64_t length) {
      if (count >= 0 && length != count)
        refuse_in_step(signature.name, fmt::format("its pieces have {} and {} numbers", count, length));
      count = length;
    };
    for (const std::int64_t width : signature.operands)
      agree(std::ssize(take(signature.name, states_[format_.place_of(width)])));
    if (signature.pieces() > signature.operands.size()) agree(std::ssize(take(signature.name, choices(signature))));
    return count;
  }
  std::int64_t choices(const SignatureFormat& signature) const {
    switch (signature.field) {
      case Field::kRow: return find(rows_name(signature.results[0]), true, {-1, signature.results[0]}).shape[0];
      case Field::kIndex: return signature.choices;
      case Field::kNumber: return numbers_;
      case Field::kNone: return 1;
    }
    return 0;
  }
  std::int64_t check_ragged(const SignatureFormat& signature) {
    const auto rows = take(signature.name, states_[format_.place_of(signature.operands[0])]);
    const auto owners = take(signature.name);
    const auto counts = take(signature.name);
    if (owners.size() != rows.size())
      refuse_in_step(signature.name, fmt::format("it reads {} rows, for {} owners", rows.size(), owners.size()));
    std::vector<std::int64_t> found(counts.size(), 0);
    for (const std::int64_t owner : owners) {
      if (owner < 0 || owner >= std::ssize(counts))
        refuse_in_step(signature.name, fmt::format("row {} gets an operand, and there are {}", owner, counts.size()));
      ++found[at(owner)];
    }
    for (std::size_t r = 0; r < counts.size(); ++r)
      if (counts[r] != found[r] || counts[r] == 0)
        refuse_in_step(signature.name,
                       fmt::format("row {} is said to have {} operands, and has {}", r, counts[r], found[r]));
    return std::ssize(counts);
  }

  const Format& format_;
  std::span<const Feed> feeds_;
  std::vector<std::int64_t> states_;  // by width: how many rows
  std::int64_t numbers_ = 0;
  std::int64_t step_ = 0;
  std::span<const std::int64_t> lengths_;  // of pieces to come
  std::span<const std::int64_t> rest_;     // of the schedule
};

}  // namespace

void check_feeds(const Format& format, std::span<const Feed> feeds) { FeedCheck(format, feeds).run(); }

}  // namespace espalier::onnx
