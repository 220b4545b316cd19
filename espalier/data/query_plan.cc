#include "espalier/data/query_plan.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/data/json.h"

namespace espalier::data {
namespace {

std::string_view without_spaces_around(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

/// What psql prints around plans: a title, a line of dashes, "(1 row)".
bool is_of_psql(std::string_view line) {
  const bool rows = line.starts_with('(') && (line.ends_with(" row)") || line.ends_with(" rows)"));
  return line.empty() || rows || line == "QUERY PLAN" || line.find_first_not_of('-') == std::string_view::npos;
}

bool begins_plan(std::string_view line) { return line.starts_with('[') || line.starts_with('{'); }

/// Follows brackets and strings until those that were opened first are closed.
class Balance {
 public:
  /// True once there is a whole value, or something that never becomes one.
  bool add(std::string_view text) {
    for (const char c : text) {
      if (escaped_) {
        escaped_ = false;
      } else if (in_string_) {
        escaped_ = c == '\\';
        in_string_ = c != '"';
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '[' || c == '{') {
        ++depth_;
      } else if (c == ']' || c == '}') {
        --depth_;
      }
    }
    return depth_ <= 0;
  }
  bool in_string() const { return in_string_; }

 private:
  std::int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

std::optional<double> time_in(const Value& explained, std::string_view key) {
  const Value* time = explained.find(key);
  if (time == nullptr || !(time->is_float() || time->is_integer())) return std::nullopt;
  return time->as_float();
}

}  // namespace

bool QueryPlanReader::read(QueryPlan& record) {
  while (found_.empty()) {
    if (!read_text()) return false;
    find_plans(parse_json(text_, lines_.name(), first_line_));
  }
  record = std::move(found_.front());
  found_.pop_front();
  return true;
}

bool QueryPlanReader::skip() {
  found_.clear();
  return lines_.skip_to([](std::string_view line) { return begins_plan(without_spaces_around(line.substr(0, 2))); });
}

bool QueryPlanReader::read_text() {
  text_.clear();
  Balance balance;
  for (std::string_view line; lines_.next(line);) {
    if (text_.empty()) {
      if (is_of_psql(without_spaces_around(line))) continue;
      first_line_ = lines_.line_number();
    } else if (begins_plan(line)) {
      lines_.put_back({std::string(line)});
      return true;
    }
    // psql marks a line that goes on.
    const std::string_view shown = without_spaces_around(line);
    const bool marked = !balance.in_string() && shown.ends_with('+');
    text_ += marked ? line.substr(0, line.rfind('+')) : line;
    const bool whole = balance.add(shown.substr(0, shown.size() - (marked ? 1 : 0)));
    text_ += '\n';
    if (text_.size() > LineReader::kLongestLine)
      throw lines_.error_at(first_line_, 1, "expected a plan of at most 16 MiB");
    if (whole) return true;
  }
  return !text_.empty();
}

void QueryPlanReader::find_plans(const Value& value) {
  const auto each = [](const Value& one_or_more, const auto& take) {
    if (!one_or_more.is_list()) return take(one_or_more);
    for (const Value& item : one_or_more.items()) take(item);
  };
  each(value, [&](const Value& source) {
    const Value* explained = source.is_map() ? source.find("explain") : nullptr;
    each(explained == nullptr ? source : *explained, [&](const Value& item) { add_plan(item, source); });
  });
  if (found_.empty()) refuse_text("at least one plan");
}

void QueryPlanReader::add_plan(const Value& explained, const Value& source) {
  const Value* plan = explained.is_map() ? explained.find("Plan") : nullptr;
  if (plan == nullptr) refuse_text("a plan under \"Plan\" or \"explain\", \"Plan\"");
  check(*plan);
  found_.push_back({*plan, time_in(explained, "Planning Time"), time_in(explained, "Execution Time"), source});
}

void QueryPlanReader::check(const Value& root) const {
  std::vector<const Value*> waiting{&root};
  while (!waiting.empty()) {
    const Value& node = *waiting.back();
    waiting.pop_back();
    const Value* type = node.is_map() ? node.find("Node Type") : nullptr;
    if (type == nullptr || !type->is_string()) refuse_text("an operator with a text \"Node Type\"");
    const Value* plans = node.find("Plans");
    if (plans == nullptr) continue;
    if (!plans->is_list()) refuse_text(fmt::format("\"Plans\" of the operator {} to be a list", type->to_text()));
    for (const Value& plan : plans->items()) waiting.push_back(&plan);
  }
}

void QueryPlanReader::refuse_text(std::string_view expected) const {
  throw error_at_plan(fmt::format("expected {} in the JSON that begins here", expected));
}

}  // namespace espalier::data
