#include "espalier/exec/fusion.h"

namespace espalier::exec {
namespace {

/// Rows whose results are in the first cache anyway are not worth looking at.
constexpr std::int64_t kLeastElements = 8192;

}  // namespace

bool Fusion::fits(const Run& run, std::int32_t step) const {
  const std::span<const NodeId> nodes = run.rows_of(step);
  const Signature& signature = graph_.signature(nodes[0]);
  const OpInfo& info = *signature.info;
  const bool by_rows = info.kind == Kind::kMap || info.kind == Kind::kReduce || info.kind == Kind::kMove;
  const Type& type = graph_.type(nodes[0]);
  return by_rows && !info.is_ragged() && !(signature.side_by_side && !table_.is_apart(nodes[0])) &&
         type.dtype == DType::kFloat32 && run.plan->blocks_of(step).empty() &&
         static_cast<std::int64_t>(nodes.size()) * type.elements >= kLeastElements;
}

bool Fusion::lines_up(std::span<const NodeId> nodes) const {
  for (std::size_t r = 0; r < nodes.size(); ++r)
    for (NodeId input : graph_.inputs(nodes[r])) {
      const Mark& mark = marks_[at(table_.root[at(table_.same[at(input)])])];
      if (mark.group == group_ && mark.row != static_cast<std::int32_t>(r)) return false;
    }
  return true;
}

void Fusion::mark(std::span<const NodeId> nodes) {
  for (std::size_t r = 0; r < nodes.size(); ++r) marks_[at(nodes[r])] = {group_, static_cast<std::int32_t>(r)};
}

std::int32_t Fusion::steps_from(const Run& run, std::int32_t step) {
  if (!fits(run, step)) return 1;
  const std::size_t rows = run.rows_of(step).size();
  std::int32_t next = step + 1;
  const auto may_follow = [&] {
    return next < run.plan->steps() && run.rows_of(next).size() == rows && fits(run, next);
  };
  if (!may_follow()) return 1;
  marks_.resize(static_cast<std::size_t>(graph_.size()));
  ++group_;
  mark(run.rows_of(step));
  for (; may_follow() && lines_up(run.rows_of(next)); ++next) mark(run.rows_of(next));
  return next - step;
}

}  // namespace espalier::exec
