/// Segments: the graphs of a run, one after the other. Internal.
///
/// An Expr does not say whether anybody still holds it, so a single node cannot be freed. A graph can: once all
/// instances that began in it have finished, it is cleared. New instances begin in the newest graph until it has had
/// its share, so that usually two graphs are in use, and the memory does not grow with the number of instances.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "espalier/graph/graph.h"
#include "espalier/graph/statistics.h"

namespace espalier::control {

class Segments {
 public:
  /// With a graph that is given, that one for good; else each for `share` instances.
  Segments(Graph* given, const GraphOptions& options, std::int64_t share) : options_(options), share_(share) {
    if (given != nullptr)
      segments_.push_back({.own = nullptr, .graph = given});
    else
      open();
  }

  /// For an instance that begins.
  std::size_t enter() {
    if (segments_[newest_].own != nullptr && segments_[newest_].begun >= share_) open();
    ++segments_[newest_].begun;
    ++segments_[newest_].live;
    return newest_;
  }
  /// One that has finished.
  void leave(std::size_t segment) {
    Segment& of = segments_[segment];
    if (--of.live > 0 || of.own == nullptr) return;
    close(of);
    if (segment != newest_) free_.push_back(segment);
  }
  /// Whether an instance that moves on from a segment goes to another one.
  bool moves(std::size_t segment, std::int32_t most_nodes) const {
    return segments_[segment].own != nullptr && (segment != newest_ || segments_[segment].graph->size() > most_nodes);
  }
  /// The newest segment begins anew, if it is this one.
  void retire(std::size_t segment) {
    if (segment == newest_) open();
  }
  Graph& graph(std::size_t segment) { return *segments_[segment].graph; }
  std::size_t count() const { return segments_.size(); }

  /// Of all graphs; those that are in use count as they are now.
  Statistics statistics() {
    note_peak();
    Statistics all = finished_;
    for (const Segment& of : segments_) all.add(of.graph->statistics());
    all.peak_bytes = peak_;
    all.node_bytes = peak_of_nodes_;
    return all;
  }

 private:
  struct Segment {
    std::unique_ptr<Graph> own;  // null if it was given
    Graph* graph = nullptr;
    std::int64_t begun = 0;
    std::int64_t live = 0;
  };

  void open() {
    if (!free_.empty()) {
      newest_ = free_.back();
      free_.pop_back();
      return;
    }
    auto own = std::make_unique<Graph>(options_);
    Graph* const graph = own.get();
    segments_.push_back({.own = std::move(own), .graph = graph});
    newest_ = segments_.size() - 1;
  }
  void close(Segment& segment) {
    note_peak();
    finished_.add(segment.graph->statistics());
    segment.graph->clear();
    segment.begun = 0;
  }
  /// A graph in use only grows, so that its peak is what it has now.
  void note_peak() {
    std::int64_t bytes = 0;
    std::int64_t of_nodes = 0;
    for (const Segment& of : segments_) {
      const Statistics statistics = of.graph->statistics();
      bytes += statistics.peak_bytes;
      of_nodes += statistics.node_bytes;
    }
    if (bytes <= peak_) return;
    peak_ = bytes;
    peak_of_nodes_ = of_nodes;
  }

  GraphOptions options_;
  std::int64_t share_;
  std::vector<Segment> segments_;
  std::vector<std::size_t> free_;  // empty ones, but the newest
  std::size_t newest_ = 0;
  Statistics finished_;
  std::int64_t peak_ = 0;
  std::int64_t peak_of_nodes_ = 0;
};

}  // namespace espalier::control
