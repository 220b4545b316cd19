/// The schedule of a list of nodes: in which step each runs, and which rows it reads. Integers only.
///
/// Thread safety: plain functions.
#pragma once

#include <span>
#include <vector>

#include "espalier/onnx/format.h"
#include "espalier/onnx/onnx.h"

namespace espalier::onnx {

/// Refuses (UsageError) a list that does not fit the format: numbers out of range, operands of another width.
void require_valid(const Format& format, const NodeList& nodes);

/// The inputs for a valid list.
std::vector<Feed> make_feeds(const Format& format, const NodeList& nodes);

/// Refuses (UsageError) inputs that do not fit the format, or that read rows that are not there.
void check_feeds(const Format& format, std::span<const Feed> feeds);

}  // namespace espalier::onnx
