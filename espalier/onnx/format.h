/// Format: what the inputs of an exported file mean. docs/static_graphs.md says it in words.
///
/// A step's part of the schedule consists of pieces, in this order: for each width the rows of the state to keep, then
/// for each signature its own pieces.
///
/// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/shape.h"
#include "espalier/data/value.h"
#include "espalier/onnx/body.h"

namespace espalier::onnx {

struct SignatureFormat {
  std::string name;
  std::string key;  // a hash of what it computes
  Field field = Field::kNone;
  std::int64_t choices = 0;            // an index is below
  bool ragged = false;                 // any number of operands, all of the only width
  std::vector<std::int64_t> operands;  // widths
  std::vector<std::int64_t> results;

  /// Of a ragged one: operands, rows they belong to, and how many each row has. Else one per operand, then the field.
  /// One that has neither has a piece of zeros: only its length counts.
  std::size_t pieces() const {
    if (ragged) return 3;
    const std::size_t own = operands.size() + (field == Field::kNone ? 0 : 1);
    return own == 0 ? 1 : own;
  }
};

struct OutputFormat {
  std::string name;
  Shape shape;
};

struct Format {
  std::vector<std::int64_t> widths;      // of states, ascending
  std::vector<std::int64_t> row_widths;  // of input data
  bool has_numbers = false;
  std::vector<SignatureFormat> signatures;
  std::vector<OutputFormat> outputs;

  std::size_t pieces() const;
  /// The place of a width among all; they hold it.
  std::size_t place_of(std::int64_t width) const;

  Value to_value() const;
  /// Refuses (UsageError) a Value that does not fit.
  static Format from_value(const Value& value);
};

SignatureFormat format_of(const Body& body);

// Names of inputs and of entries of the metadata.
inline constexpr std::string_view kLengths = "lengths";
inline constexpr std::string_view kSchedule = "schedule";
inline constexpr std::string_view kNumbers = "numbers";
inline constexpr std::string_view kScheduleEntry = "espalier.schedule";
inline std::string rows_name(std::int64_t width) { return "rows." + std::to_string(width); }
inline std::string output_rows_name(std::string_view output) { return std::string(output) + ".rows"; }

}  // namespace espalier::onnx
