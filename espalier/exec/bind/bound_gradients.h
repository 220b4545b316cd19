/// BoundGradients: the gradients that one step of a backward pass reads and writes, as its op's kernels want them:
/// those of its results as rows, and those of its operands as rows with one decision each, to store or to accumulate.
///
/// The first to write a row stores, so that memory need not be zeroed before. If only some rows of an operand are
/// written for the first time, or one is written twice, these are zeroed and all rows accumulate.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/exec/bind/bound_step.h"
#include "espalier/exec/bind/gradient_places.h"
#include "espalier/exec/bind/ledger.h"
#include "espalier/exec/collect/backward_request.h"
#include "espalier/exec/node_table.h"
#include "espalier/graph/graph.h"
#include "espalier/ops/step.h"

namespace espalier::exec {

class BoundGradients {
 public:
  /// `memory` is that of the gradients of all runs.
  BoundGradients(const Graph& graph, const NodeTable& table, const BackwardRequest& request,
                 const PlannedMemory& memory, Ledger& ledger, GradientPlaces& places)
      : graph_(graph), table_(table), request_(request), memory_(memory), ledger_(ledger), places_(places) {}

  /// The nodes of a step that are differentiated.
  struct Step {
    const Run* run = nullptr;
    const plan::Layout* layout = nullptr;  // of the run's gradients
    std::int32_t number = 0;
    std::span<const NodeId> nodes;
    bool is_whole = false;        // they are all nodes of the step, and no other run has computed any of what it reads
    std::uint32_t unwritten = 0;  // as Saved has it
  };
  /// Binds them, with values as `view` shows them: sets what `saved` says of gradients, and where those of operands go.
  /// Valid until the next call.
  void open(const BoundStep& view, const Step& step, Saved& saved);
  /// Whether any operand wants a gradient.
  bool any() const { return any_; }
  /// Where the gradients of operands go, in the order of StepIn.
  std::span<const GradRows> operands() const { return lists_.grads; }
  /// Whether some rows share memory: they are not for two threads.
  bool any_share_memory() const { return ledger_.overlapping() || any_unread_; }
  /// Rows of blocks that are copies pass their gradients on to the nodes that they were copied from.
  void add_copied_rows();

 private:
  /// What the gradients of an operand's rows need before they are written.
  struct Opened {
    std::vector<NodeId> clean;  // nothing is there yet
    bool all_clean = true;
    bool all_wanted = true;  // every row gets a gradient
    std::vector<std::int64_t> offsets;
  };
  /// What a thread keeps from one pass to the next: most passes over small graphs would be spent on getting memory.
  struct Lists {
    std::vector<std::int64_t> dy_offsets;
    std::vector<Rows> result_gradients;
    std::vector<std::vector<std::int64_t>> result_offsets;
    std::vector<std::int64_t> deferred_offsets;
    std::vector<GradRows> grads;
    std::vector<Opened> opened;
    std::vector<float*> targets;            // of the operand under way, the first row of each node
    std::vector<std::int64_t> target_rows;  // beside them, how many; empty where each has one
    std::vector<float> unread;

    static Lists& of_thread() {
      thread_local Lists lists;
      return lists;
    }
  };

  float* gradient(NodeId node) const { return reinterpret_cast<float*>(ledger_.where(node)); }
  template <class T>
  BasicRows<T> rows_of_result(std::int64_t width, std::int32_t k, std::vector<std::int64_t>& offsets) const;
  void open_results(Saved& saved);
  void open_operands();
  void open_operand(std::size_t i);
  void open_ragged();
  void open_block(std::size_t i, const plan::Block& block);
  void open_rows_of(std::size_t i, std::int64_t width);
  void list_each_row(std::int64_t width);
  Opened& start_operand(std::size_t i);
  float* claim(NodeId node, Opened& into);
  void claim_open(NodeId node, Opened& into);
  void settle();
  /// The block of operand i, or null.
  const plan::Block* block(std::size_t i) const { return view_->in().offsets != nullptr ? nullptr : view_->block(i); }
  template <class F>
  void for_each_strange_row(std::size_t i, const F& f) const;
  bool is_in_block(std::size_t i, std::int64_t r, NodeId node) const;
  void zero_copied_rows(std::size_t i);

  const Graph& graph_;
  const NodeTable& table_;
  const BackwardRequest& request_;
  PlannedMemory memory_;
  Ledger& ledger_;
  GradientPlaces& places_;
  Lists& lists_ = Lists::of_thread();
  // Of the current step.
  const BoundStep* view_ = nullptr;
  Step step_;
  bool any_ = false;
  bool any_unread_ = false;  // some rows go where nobody reads them
};

}  // namespace espalier::exec
