#include "espalier/onnx/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "espalier/base/at.h"
#include "espalier/base/error.h"

namespace espalier::onnx {
namespace {

/// A node that could wait runs in the first step of the window of so many steps in which it must run: most nodes of a
/// signature still run together, and no row waits for long. Every step copies the rows that wait.
constexpr std::int32_t kWindow = 32;
constexpr std::int32_t kNever = -1;
constexpr std::int32_t kEnd = std::numeric_limits<std::int32_t>::max();

/// Refuses what is not there.
class ListCheck {
 public:
  ListCheck(const Format& format, const NodeList& nodes) : format_(format), nodes_(nodes) {}

  void run() {
    const std::size_t count = nodes_.signatures.size();
    if (count > static_cast<std::size_t>(Weaver::kMostNodes))
      refuse(fmt::format("there are {} nodes, and a call can have {}", count, Weaver::kMostNodes));
    if (nodes_.operand_ends.size() != count || nodes_.fields.size() != count)
      refuse(fmt::format("there are {} signatures, {} ends of operands and {} fields; all must be as many", count,
                         nodes_.operand_ends.size(), nodes_.fields.size()));
    for (const auto& [width, rows] : nodes_.rows)
      if (width < 1 || std::ssize(rows) % width != 0)
        refuse(fmt::format("rows of width {} are given, and {} numbers for them", width, rows.size()));
    std::int64_t begin = 0;
    for (std::size_t n = 0; n < count; ++n) begin = check_node(n, begin);
    if (begin != std::ssize(nodes_.operands))
      refuse(fmt::format("the operands of the nodes end at {}, and there are {}", begin, nodes_.operands.size()));
    check_outputs();
  }

 private:
  [[noreturn]] static void refuse(const std::string& sentence) { throw UsageError("onnx: " + sentence); }

  std::int64_t check_node(std::size_t n, std::int64_t begin) {
    const std::int32_t number = nodes_.signatures[n];
    if (number < 0 || number >= std::ssize(format_.signatures))
      refuse(fmt::format("node {} has signature {}, and there are 0 to {}", n, number, format_.signatures.size() - 1));
    const SignatureFormat& signature = format_.signatures[at(number)];
    const std::int64_t end = nodes_.operand_ends[n];
    if (end < begin || end > std::ssize(nodes_.operands))
      refuse(fmt::format("the operands of node {} end at {}, which is outside {} to {}", n, end, begin,
                         nodes_.operands.size()));
    const auto count = static_cast<std::size_t>(end - begin);
    if (signature.ragged ? count == 0 : count != signature.operands.size())
      refuse(fmt::format("node {}, \"{}\", has {} operands, and takes {}", n, signature.name, count,
                         signature.ragged ? "at least 1" : std::to_string(signature.operands.size())));
    for (std::size_t i = 0; i < count; ++i)
      check_operand(n, signature, nodes_.operands[at(begin) + i], signature.operands[signature.ragged ? 0 : i]);
    check_field(n, signature, nodes_.fields[n]);
    for (const std::int64_t width : signature.results) widths_.push_back(width);
    return end;
  }
  void check_operand(std::size_t n, const SignatureFormat& signature, std::int32_t value, std::int64_t width) const {
    if (value < 0 || value >= std::ssize(widths_))
      refuse(fmt::format("node {}, \"{}\", reads value {}, and there are {} before it", n, signature.name, value,
                         widths_.size()));
    if (widths_[at(value)] != width)
      refuse(fmt::format("node {}, \"{}\", reads value {}, which has {} elements, where it takes {}", n, signature.name,
                         value, widths_[at(value)], width));
  }
  void check_field(std::size_t n, const SignatureFormat& signature, std::int64_t field) const {
    std::int64_t choices = 1;
    if (signature.field == Field::kIndex) choices = signature.choices;
    if (signature.field == Field::kNumber) choices = std::ssize(nodes_.numbers);
    if (signature.field == Field::kRow) {
      const auto rows = nodes_.rows.find(signature.results[0]);
      choices = rows == nodes_.rows.end() ? 0 : std::ssize(rows->second) / signature.results[0];
    }
    if (field < 0 || field >= choices)
      refuse(fmt::format("node {}, \"{}\", has the field {}, and 0 to {} are possible", n, signature.name, field,
                         choices - 1));
  }
  void check_outputs() const {
    if (nodes_.outputs.size() != format_.outputs.size())
      refuse(fmt::format("values of {} outputs are given, and the file has {}", nodes_.outputs.size(),
                         format_.outputs.size()));
    for (std::size_t k = 0; k < nodes_.outputs.size(); ++k)
      for (const std::int32_t value : nodes_.outputs[k]) {
        const OutputFormat& output = format_.outputs[k];
        if (value < 0 || value >= std::ssize(widths_))
          refuse(fmt::format("output \"{}\" is value {}, and there are {}", output.name, value, widths_.size()));
        if (widths_[at(value)] != output.shape.elements())
          refuse(fmt::format("output \"{}\" is value {}, which has {} elements, and has {}", output.name, value,
                             widths_[at(value)], output.shape.elements()));
      }
  }

  const Format& format_;
  const NodeList& nodes_;
  std::vector<std::int64_t> widths_;  // by value, of the nodes so far
};

/// Steps of nodes and places of values, then the numbers of each step.
class Weaving {
 public:
  Weaving(const Format& format, const NodeList& nodes)
      : format_(format), nodes_(nodes), count_(static_cast<std::int32_t>(nodes.signatures.size())) {
    for (std::int32_t n = 0; n < count_; ++n) {
      first_value_.push_back(static_cast<std::int32_t>(producer_.size()));
      producer_.resize(producer_.size() + signature(n).results.size(), n);
    }
  }

  std::vector<Feed> run() {
    find_steps();
    find_last_uses();
    order_by_step();
    states_.resize(format_.widths.size());
    place_.assign(producer_.size(), -1);
    const auto steps = static_cast<std::int32_t>(step_begin_.size()) - 1;
    lengths_.reserve(at(steps) * format_.pieces());
    for (std::int32_t t = 0; t < steps; ++t) add_step(t);
    return feeds(steps);
  }

 private:
  const SignatureFormat& signature(std::int32_t node) const {
    return format_.signatures[at(nodes_.signatures[at(node)])];
  }
  std::span<const std::int32_t> operands(std::int32_t node) const {
    const std::int64_t begin = node == 0 ? 0 : nodes_.operand_ends[at(node - 1)];
    return std::span(nodes_.operands).subspan(at(begin), at(nodes_.operand_ends[at(node)] - begin));
  }

  /// From the earliest step of each node, and the latest at which nodes that nobody reads still run at their earliest.
  void find_steps() {
    std::vector<std::int32_t> earliest(at(count_), 0);
    for (std::int32_t n = 0; n < count_; ++n)
      for (const std::int32_t value : operands(n))
        earliest[at(n)] = std::max(earliest[at(n)], earliest[at(producer_[at(value)])] + 1);
    std::vector<std::int32_t> latest(at(count_), kEnd);
    for (std::int32_t n = count_ - 1; n >= 0; --n) {
      if (latest[at(n)] == kEnd) latest[at(n)] = earliest[at(n)];
      for (const std::int32_t value : operands(n)) {
        std::int32_t& of_operand = latest[at(producer_[at(value)])];
        of_operand = std::min(of_operand, latest[at(n)] - 1);
      }
    }
    step_.assign(at(count_), 0);
    for (std::int32_t n = 0; n < count_; ++n) {
      std::int32_t step = operands(n).empty() ? 0 : latest[at(n)] / kWindow * kWindow;
      for (const std::int32_t value : operands(n)) step = std::max(step, step_[at(producer_[at(value)])] + 1);
      step_[at(n)] = step;
    }
    pull_leaves();
  }
  /// Leaves compute nothing: they run right before the first step that reads them.
  void pull_leaves() {
    std::vector<std::int32_t> first_use(at(count_), kEnd);
    for (std::int32_t n = 0; n < count_; ++n)
      for (const std::int32_t value : operands(n)) {
        std::int32_t& use = first_use[at(producer_[at(value)])];
        use = std::min(use, step_[at(n)]);
      }
    for (std::int32_t n = 0; n < count_; ++n)
      if (operands(n).empty() && first_use[at(n)] != kEnd) step_[at(n)] = first_use[at(n)] - 1;
  }
  void find_last_uses() {
    last_use_.assign(producer_.size(), kNever);
    for (std::int32_t n = 0; n < count_; ++n)
      for (const std::int32_t value : operands(n)) last_use_[at(value)] = std::max(last_use_[at(value)], step_[at(n)]);
    for (const std::vector<std::int32_t>& output : nodes_.outputs)
      for (const std::int32_t value : output) last_use_[at(value)] = kEnd;
  }
  /// By step, in each by signature, in each as they are in the list.
  void order_by_step() {
    const std::int32_t last = count_ == 0 ? -1 : *std::max_element(step_.begin(), step_.end());
    step_begin_.assign(at(last) + 2, 0);
    for (const std::int32_t step : step_) ++step_begin_[at(step) + 1];
    std::partial_sum(step_begin_.begin(), step_begin_.end(), step_begin_.begin());
    order_.resize(at(count_));
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return std::pair(step_[at(a)], nodes_.signatures[at(a)]) < std::pair(step_[at(b)], nodes_.signatures[at(b)]);
    });
  }

  void end_piece(std::size_t begin) { lengths_.push_back(static_cast<std::int64_t>(schedule_.size() - begin)); }

  void add_step(std::int32_t t) {
    std::span<const std::int32_t> rest =
        std::span(order_).subspan(at(step_begin_[at(t)]), at(step_begin_[at(t + 1)] - step_begin_[at(t)]));
    // Rows are read where the step before left them: keep writes down places before it changes them.
    std::vector<std::vector<std::int32_t>> next(states_.size());
    for (std::size_t c = 0; c < states_.size(); ++c) {
      const std::size_t begin = schedule_.size();
      for (std::size_t i = 0; i < states_[c].size(); ++i) {
        if (last_use_[at(states_[c][i])] <= t) continue;
        schedule_.push_back(static_cast<std::int64_t>(i));
        next[c].push_back(states_[c][i]);
      }
      end_piece(begin);
    }
    for (std::int32_t s = 0; s < std::ssize(format_.signatures); ++s) {
      std::size_t count = 0;
      while (count < rest.size() && nodes_.signatures[at(rest[count])] == s) ++count;
      add_signature(format_.signatures[at(s)], rest.first(count));
      for (std::size_t k = 0; k < format_.signatures[at(s)].results.size(); ++k)
        for (const std::int32_t node : rest.first(count))
          next[format_.place_of(format_.signatures[at(s)].results[k])].push_back(first_value_[at(node)] +
                                                                                 static_cast<std::int32_t>(k));
      rest = rest.subspan(count);
    }
    states_ = std::move(next);
    for (const std::vector<std::int32_t>& state : states_)
      for (std::size_t i = 0; i < state.size(); ++i) place_[at(state[i])] = static_cast<std::int32_t>(i);
  }

  void add_signature(const SignatureFormat& format, std::span<const std::int32_t> nodes) {
    if (format.ragged) return add_ragged(nodes);
    for (std::size_t i = 0; i < format.operands.size(); ++i) {
      const std::size_t begin = schedule_.size();
      for (const std::int32_t node : nodes) schedule_.push_back(place_[at(operands(node)[i])]);
      end_piece(begin);
    }
    if (format.pieces() == format.operands.size()) return;
    const std::size_t begin = schedule_.size();
    for (const std::int32_t node : nodes) schedule_.push_back(nodes_.fields[at(node)]);
    end_piece(begin);
  }
  void add_ragged(std::span<const std::int32_t> nodes) {
    std::size_t begin = schedule_.size();
    for (const std::int32_t node : nodes)
      for (const std::int32_t value : operands(node)) schedule_.push_back(place_[at(value)]);
    end_piece(begin);
    begin = schedule_.size();
    for (std::size_t r = 0; r < nodes.size(); ++r)
      schedule_.insert(schedule_.end(), operands(nodes[r]).size(), static_cast<std::int64_t>(r));
    end_piece(begin);
    begin = schedule_.size();
    for (const std::int32_t node : nodes) schedule_.push_back(std::ssize(operands(node)));
    end_piece(begin);
  }

  std::vector<Feed> feeds(std::int32_t steps) {
    std::vector<Feed> feeds;
    const auto add_ints = [&](std::string name, std::vector<std::int64_t> shape, std::vector<std::int64_t> numbers) {
      feeds.push_back({.name = std::move(name), .shape = std::move(shape), .integers = std::move(numbers)});
    };
    const auto add_floats = [&](std::string name, std::vector<std::int64_t> shape, std::vector<float> numbers) {
      feeds.push_back(
          {.name = std::move(name), .shape = std::move(shape), .numbers = std::move(numbers), .is_float = true});
    };
    const auto length = static_cast<std::int64_t>(schedule_.size());
    add_ints(std::string(kLengths), {steps, static_cast<std::int64_t>(format_.pieces())}, std::move(lengths_));
    add_ints(std::string(kSchedule), {length}, std::move(schedule_));
    for (const std::int64_t width : format_.row_widths) {
      const auto rows = nodes_.rows.find(width);
      std::vector<float> numbers = rows == nodes_.rows.end() ? std::vector<float>() : rows->second;
      const std::int64_t count = std::ssize(numbers) / width;
      add_floats(rows_name(width), {count, width}, std::move(numbers));
    }
    if (format_.has_numbers) add_floats(std::string(kNumbers), {std::ssize(nodes_.numbers)}, nodes_.numbers);
    for (std::size_t k = 0; k < format_.outputs.size(); ++k) {
      std::vector<std::int64_t> rows;
      for (const std::int32_t value : nodes_.outputs[k]) rows.push_back(place_[at(value)]);
      const std::int64_t count = std::ssize(rows);
      add_ints(output_rows_name(format_.outputs[k].name), {count}, std::move(rows));
    }
    return feeds;
  }

  const Format& format_;
  const NodeList& nodes_;
  std::int32_t count_;
  std::vector<std::int32_t> first_value_;  // by node
  std::vector<std::int32_t> producer_;     // by value
  std::vector<std::int32_t> step_;         // by node
  std::vector<std::int32_t> last_use_;     // by value: the last step that reads it
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> step_begin_;
  std::vector<std::vector<std::int32_t>> states_;  // by width: its values in order
  std::vector<std::int32_t> place_;                // by value: its row in the state
  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> schedule_;
};

}  // namespace

void require_valid(const Format& format, const NodeList& nodes) { ListCheck(format, nodes).run(); }

std::vector<Feed> make_feeds(const Format& format, const NodeList& nodes) { return Weaving(format, nodes).run(); }

}  // namespace espalier::onnx
