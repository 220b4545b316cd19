// What the operands of steps are made of: segments, whole blocks, or some rows of a block.
#include "torch_gathers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace espalier::python {

namespace {

// A block is read whole, rather than by the rows that are needed, if it is small or this part of it is needed.
constexpr std::int32_t kSmallBlock = 16;
constexpr std::int32_t kWorthWhole = 2;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

struct TorchGathers::Source {
  TorchPlace place;
  std::int32_t segment;  // -1: not one that belongs to the step
};

TorchGathers::TorchGathers(const TorchRecording& recording, TorchPlan& plan, std::span<const std::int32_t> first_use)
    : recording_(recording),
      plan_(plan),
      first_use_(first_use),
      nodes_(plan.steps.size()),
      segment_begin_(plan.steps.size()) {
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const TorchStep& step = plan.steps[s];
    nodes_[s].resize(index(step.nodes));
    segment_begin_[s].resize(step.segments.size());
    std::exclusive_scan(step.segments.begin(), step.segments.end(), segment_begin_[s].begin(), 0);
  }
  for (std::size_t v = 0; v < plan.places.size(); ++v) {
    const TorchPlace place = plan.places[v];
    nodes_[index(place.block - recording.blocks())][index(place.row)] = static_cast<std::int32_t>(v);
  }
  for (std::int32_t i = 0; i < recording.signatures(); ++i)
    most_results_ = std::max(most_results_, static_cast<std::int32_t>(recording.signature(i).results.size()));
  const std::size_t blocks = index(recording.blocks()) + plan.steps.size();
  piece_at_.assign(blocks * index(most_results_) * 2, -1);
}

TorchPlace TorchGathers::place_of(std::int32_t node) const {
  return node < recording_.done() ? recording_.place_of(node) : plan_.places[index(node - recording_.done())];
}

TorchGathers::Source TorchGathers::source_of(std::int32_t step, TorchInput input) const {
  const TorchPlace place = place_of(input.node);
  const std::int32_t pending = input.node - recording_.done();
  if (pending < 0 || first_use_[index(pending)] != step) return {place, -1};
  const auto& begins = segment_begin_[index(place.block - recording_.blocks())];
  if (begins.size() == 1) return {place, -1};
  const auto after = std::upper_bound(begins.begin(), begins.end(), place.row);
  return {place, static_cast<std::int32_t>(after - begins.begin()) - 1};
}

void TorchGathers::fill(std::int32_t s) {
  TorchStep& step = plan_.steps[index(s)];
  const TorchSignature& signature = recording_.signature(step.signature);
  if (signature.any_number) {
    fill_lists(step);
    gather(s, {.operands = {0}, .pieces = {}});
  }
  for (std::size_t i = 0; i < signature.inputs.size() && !signature.any_number; ++i) {
    const auto kind = signature.inputs[i];
    if (std::find(signature.inputs.begin(), signature.inputs.begin() + static_cast<std::ptrdiff_t>(i), kind) !=
        signature.inputs.begin() + static_cast<std::ptrdiff_t>(i))
      continue;  // with an operand before
    TorchGather same;
    for (std::size_t j = i; j < signature.inputs.size(); ++j)
      if (signature.inputs[j] == kind) same.operands.push_back(static_cast<std::int32_t>(j));
    gather(s, std::move(same));
  }
  if (signature.field != Field::kNone) fill_fields(step);
}

void TorchGathers::gather(std::int32_t step, TorchGather gather) {
  entries_.clear();
  uses_.clear();
  sizes_.clear();
  begins_.clear();
  const bool any_number = recording_.signature(plan_.steps[index(step)].signature).any_number;
  for (const std::int32_t operand : gather.operands)
    for (const std::int32_t v : nodes_[index(step)]) {
      const auto inputs = recording_.inputs_of(recording_.done() + v);
      if (!any_number)
        look_at(step, inputs[index(operand)], gather);
      else
        for (const TorchInput& input : inputs) look_at(step, input, gather);
    }
  for (const TorchPiece& piece : gather.pieces)
    piece_at_[(index(piece.block) * index(most_results_) + index(piece.result)) * 2 + (piece.segment >= 0)] = -1;
  select_rows(gather);
  index_rows(gather);
  plan_.steps[index(step)].gathers.push_back(std::move(gather));
}

// Adds an entry, and its piece if that is new.
void TorchGathers::look_at(std::int32_t step, TorchInput input, TorchGather& gather) {
  const Source source = source_of(step, input);
  const std::int32_t block = source.place.block;
  std::int32_t& piece =
      piece_at_[(index(block) * index(most_results_) + index(input.result)) * 2 + (source.segment >= 0)];
  if (piece < 0) {
    piece = static_cast<std::int32_t>(gather.pieces.size());
    gather.pieces.push_back({block, input.result, source.segment, kNoPart});
    uses_.push_back(0);
    const std::int32_t made = block - recording_.blocks();
    if (source.segment >= 0) {
      sizes_.push_back(plan_.steps[index(made)].segments[index(source.segment)]);
      begins_.push_back(segment_begin_[index(made)][index(source.segment)]);
    } else {
      sizes_.push_back(made < 0 ? recording_.rows_of_block(block) : plan_.steps[index(made)].nodes);
      begins_.push_back(0);
    }
  }
  ++uses_[index(piece)];
  entries_.push_back({piece, source.place.row});
}

// Blocks of which few rows are needed give only those.
void TorchGathers::select_rows(TorchGather& gather) {
  if (gather.pieces.size() == 1) return;  // the index will select
  for (std::size_t p = 0; p < gather.pieces.size(); ++p) {
    if (sizes_[p] <= kSmallBlock || uses_[p] * kWorthWhole >= sizes_[p]) continue;
    numbers_.clear();
    for (Entry& entry : entries_)
      if (entry.piece == static_cast<std::int32_t>(p)) {
        numbers_.push_back(entry.row - begins_[p]);
        entry.row = static_cast<std::int32_t>(numbers_.size()) - 1;
      }
    gather.pieces[p].rows = add_part(numbers_);
    sizes_[p] = uses_[p];
    begins_[p] = 0;
    plan_.copied_rows += uses_[p];
  }
}

void TorchGathers::index_rows(TorchGather& gather) {
  std::vector<std::int32_t> offsets(sizes_.size());
  std::exclusive_scan(sizes_.begin(), sizes_.end(), offsets.begin(), 0);
  const std::int64_t total = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
  numbers_.clear();
  bool in_order = total == static_cast<std::int64_t>(entries_.size());
  for (const Entry& entry : entries_) {
    const std::int64_t row = offsets[index(entry.piece)] + entry.row - begins_[index(entry.piece)];
    in_order &= row == static_cast<std::int64_t>(numbers_.size());
    numbers_.push_back(row);
  }
  if (gather.pieces.size() > 1) plan_.copied_rows += total;
  if (in_order) return;
  gather.index = add_part(numbers_);
  plan_.copied_rows += static_cast<std::int64_t>(entries_.size());
}

void TorchGathers::fill_fields(TorchStep& step) {
  numbers_.clear();
  for (const std::int32_t v : nodes_[index(step.block - recording_.blocks())])
    numbers_.push_back(recording_.field_of(recording_.done() + v));
  step.fields = add_part(numbers_);
}

void TorchGathers::fill_lists(TorchStep& step) {
  numbers_.clear();
  const auto& nodes = nodes_[index(step.block - recording_.blocks())];
  const auto length = [&](std::int32_t v) { return recording_.inputs_of(recording_.done() + v).size(); };
  bool equal = true;
  for (std::size_t row = 0; row < nodes.size(); ++row) {
    equal &= length(nodes[row]) == length(nodes[0]);
    numbers_.insert(numbers_.end(), length(nodes[row]), static_cast<std::int64_t>(row));
  }
  if (equal)
    step.list_length = static_cast<std::int32_t>(length(nodes[0]));
  else
    step.lists = add_part(numbers_);
}

std::int32_t TorchGathers::add_part(std::span<const std::int64_t> numbers) {
  plan_.numbers.insert(plan_.numbers.end(), numbers.begin(), numbers.end());
  plan_.parts.push_back(static_cast<std::int64_t>(numbers.size()));
  return static_cast<std::int32_t>(plan_.parts.size()) - 1;
}

}  // namespace espalier::python
