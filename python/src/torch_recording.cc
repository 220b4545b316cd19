// What espalier.torch records of a batch: appending nodes, and finding out about them.
#include "torch_recording.h"

#include <algorithm>
#include <iterator>

namespace nb = nanobind;

namespace espalier::python {

std::int32_t TorchRecording::add(TorchSignature& signature, nb::handle object, std::int64_t field) {
  if (&signature != newest_) {
    const auto [entry, is_new] = number_of_.try_emplace(&signature, signatures());
    if (is_new) known_.emplace_back(&signature, nb::borrow(object));
    newest_ = &signature;
    newest_number_ = entry->second;
  }
  signature_.push_back(newest_number_);
  fields_.push_back(field);
  return size() - 1;
}

std::int32_t TorchRecording::instance_of(std::int32_t node) const {
  const auto after = std::ranges::upper_bound(instance_begin_, node, {}, &InstanceBegin::node);
  return after == instance_begin_.begin() ? -1 : std::prev(after)->instance;
}

void TorchRecording::set_done(std::span<const TorchPlace> places, std::span<const std::int32_t> block_rows) {
  places_.insert(places_.end(), places.begin(), places.end());
  block_rows_.insert(block_rows_.end(), block_rows.begin(), block_rows.end());
}

void TorchRecording::close() {
  known_.clear();
  number_of_.clear();
  newest_ = nullptr;
  integer_signature.reset();
  number_signature.reset();
}

}  // namespace espalier::python
