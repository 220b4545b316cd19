/// Query plans of PostgreSQL, as EXPLAIN (FORMAT JSON) and EXPLAIN (ANALYZE, FORMAT JSON) print them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/line_reader.h"
#include "espalier/data/record_reader.h"
#include "espalier/data/value.h"

namespace espalier::data {

struct QueryPlan {
  /// The topmost operator: a map with the text "Node Type" and, if it has children, the list "Plans" of operators. What
  /// else it holds is as PostgreSQL wrote it.
  Value root;
  std::optional<double> planning_time;   // milliseconds
  std::optional<double> execution_time;  // milliseconds; only with ANALYZE
  /// The map in which the plan was found: of JSON lines the whole line, with what else it has.
  Value source;
};

/// Reads plans one after the other in any of these forms, also mixed:
///
/// - a list of maps with "Plan", over as many lines as psql prints, also with its title, "+" signs and "(1 row)";
/// - a map with "Plan";
/// - a map with "explain", which is a map with "Plan" or a list of them: a line of JSON per query, with other keys.
///
/// A line that begins with "[" or "{" begins a new plan. Refuses what is not JSON, text of more than 16 MiB for one
/// plan, and operators without "Node Type" or with "Plans" that are no list.
class ESPALIER_EXPORT QueryPlanReader final : public RecordReader<QueryPlan> {
 public:
  explicit QueryPlanReader(Input input, const ReadOptions& options = {})
      : RecordReader(options), lines_(std::move(input)) {}

  /// Where the JSON of the plan read last begins: "plans.jsonl:7".
  std::string place() const { return lines_.name() + ":" + std::to_string(first_line_); }
  /// A DataError at the line where the JSON of the plan read last begins.
  DataError error_at_plan(std::string_view message) const { return lines_.error_at(first_line_, 1, message); }

 private:
  bool read(QueryPlan& record) override;
  bool skip() override;
  bool read_text();
  void find_plans(const Value& value);
  void add_plan(const Value& explained, const Value& source);
  void check(const Value& root) const;
  [[noreturn]] void refuse_text(std::string_view expected) const;

  LineReader lines_;
  std::string text_;             // of the plan being read
  std::int64_t first_line_ = 0;  // of it
  std::deque<QueryPlan> found_;  // read, but not given yet
};

}  // namespace espalier::data
