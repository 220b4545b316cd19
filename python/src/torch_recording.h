/// What espalier.torch records of a batch: who was called with which earlier results. Integers only; no tensor is seen
/// here.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caller.h"
#include "espalier/base/source_line.h"

namespace espalier::python {

/// What a node carries besides its inputs: nothing, an integer, a number, or the place of an object in a list.
enum class Field : std::uint8_t { kNone, kInteger, kNumber, kObject };

/// What must be equal for two calls to run as one. Kinds are numbers for a shape, a type of elements and a device.
struct TorchSignature {
  std::vector<std::int32_t> inputs;  // the kind of each; if any_number, the one kind of all
  std::vector<std::int32_t> results;
  bool any_number = false;
  Field field = Field::kNone;
  nanobind::object wrap;  // makes a call's answer of a tuple of its results; none: the tuple, or a single result
};

/// One of the results of an earlier node.
struct TorchInput {
  std::int32_t node;
  std::int32_t result;
};

/// Where the row of a node is: blocks are the results of steps.
struct TorchPlace {
  std::int32_t block = -1;
  std::int32_t row = -1;
};

class TorchRecording {
 public:
  TorchRecording() = default;
  TorchRecording(const TorchRecording&) = delete;
  TorchRecording& operator=(const TorchRecording&) = delete;

  /// Signatures of constants: one integer, one number. Python sets them.
  nanobind::object integer_signature, number_signature;

  /// Appends a node; its inputs are added next. `signature` is what `object` holds, which is kept.
  std::int32_t add(TorchSignature& signature, nanobind::handle object, std::int64_t field = 0);
  void add_input(TorchInput input) { inputs_.push_back(input); }
  /// Ends the inputs of the newest node, and keeps where in the user's program it was recorded.
  void end_inputs() {
    input_begin_.push_back(static_cast<std::int32_t>(inputs_.size()));
    sites_.push_back(caller());
  }

  std::int32_t size() const { return static_cast<std::int32_t>(signature_.size()); }
  std::int32_t signatures() const { return static_cast<std::int32_t>(known_.size()); }
  std::int32_t signature_of(std::int32_t node) const { return signature_[at(node)]; }
  const TorchSignature& signature(std::int32_t number) const { return *known_[at(number)].first; }
  nanobind::handle signature_object(std::int32_t number) const { return known_[at(number)].second; }
  std::int64_t field_of(std::int32_t node) const { return fields_[at(node)]; }
  std::span<const TorchInput> inputs_of(std::int32_t node) const {
    const auto begin = at(input_begin_[at(node)]);
    return std::span<const TorchInput>(inputs_).subspan(begin, at(input_begin_[at(node) + 1]) - begin);
  }

  /// From now on nodes belong to another instance.
  void begin_instance() { instance_begin_.push_back({size(), instance_count_++}); }
  /// ... or to one that began before.
  void begin_instance_again(std::int32_t number) { instance_begin_.push_back({size(), number}); }
  std::int32_t instances() const { return instance_count_; }
  /// -1 before the first instance began.
  std::int32_t instance_of(std::int32_t node) const;
  /// Where in the user's program the node was recorded.
  SourceLine site_of(std::int32_t node) const { return sites_[at(node)]; }

  /// Nodes before it have run, and have places.
  std::int32_t done() const { return static_cast<std::int32_t>(places_.size()); }
  TorchPlace place_of(std::int32_t node) const { return places_[at(node)]; }
  std::int32_t rows_of_block(std::int32_t block) const { return block_rows_[at(block)]; }
  std::int32_t blocks() const { return static_cast<std::int32_t>(block_rows_.size()); }
  /// Everything recorded so far is as good as run: places of the nodes from done() on, and sizes of new blocks.
  void set_done(std::span<const TorchPlace> places, std::span<const std::int32_t> block_rows);

  /// Forgets the signatures' objects, and with them the functions of the user. Nothing can be recorded any more.
  void close();

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  struct InstanceBegin {
    std::int32_t node;
    std::int32_t instance;
  };
  std::vector<std::int32_t> signature_;
  std::vector<std::int64_t> fields_;
  std::vector<std::int32_t> input_begin_{0};
  std::vector<TorchInput> inputs_;
  std::vector<SourceLine> sites_;
  std::vector<InstanceBegin> instance_begin_;
  std::int32_t instance_count_ = 0;
  std::vector<TorchPlace> places_;
  std::vector<std::int32_t> block_rows_;
  std::vector<std::pair<TorchSignature*, nanobind::object>> known_;
  std::unordered_map<const TorchSignature*, std::int32_t> number_of_;
  const TorchSignature* newest_ = nullptr;
  std::int32_t newest_number_ = 0;
};

}  // namespace espalier::python
