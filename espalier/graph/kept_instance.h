/// KeptInstance: the records of one instance, as Recordings keep them: nothing in it belongs to a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/arena.h"
#include "espalier/base/bytes.h"
#include "espalier/base/dtype.h"
#include "espalier/base/shape.h"
#include "espalier/base/source_line.h"
#include "espalier/graph/graph.h"
#include "espalier/graph/op_info.h"

namespace espalier {

/// What the nodes of a signature have in common, in any graph.
struct KindOfNode {
  const OpInfo* info = nullptr;
  std::vector<std::uint32_t> attrs;
  std::size_t number = 0;  // among all of the same Recordings
};

/// A parameter, or what was derived from parameters under a uid.
struct KeptShared {
  std::uint64_t uid = 0;
  const Parameter* parameter = nullptr;  // null: derived, by these nodes, of which the last has the uid
  Type type;
  std::size_t number = 0;
  struct Step {
    const OpInfo* info = nullptr;
    std::vector<std::uint32_t> attrs;
    std::vector<std::byte> fields;
    SourceLine where;
    /// A step before, or ~i for the i-th of `from`.
    std::vector<std::int32_t> inputs;
  };
  std::vector<Step> steps;
  std::vector<const KeptShared*> from;
};

struct KeptInstance {
  struct Node {
    const KindOfNode* kind = nullptr;
    SourceLine where;
    std::uint32_t first_input = 0;
    std::uint32_t inputs = 0;
    std::uint32_t fields = 0;        // where they begin
    std::int32_t rows = 0;           // as the graph has it: 0 for a node that is one row
    std::uint32_t first_random = 0;  // of a random op, among the random numbers of the recording
    bool is_shared = false;          // made from parameters alone, or reads such a node: recorded anew every time
  };
  std::vector<Node> nodes;
  /// Of all nodes: a node before, or ~i for the i-th of `shared`.
  std::vector<std::int32_t> inputs;
  std::vector<std::byte> fields;
  std::vector<const KeptShared*> shared;
  std::vector<std::int32_t> outputs;
  std::uint32_t random_ops = 0;
  Arena data;  // numbers of leaves

  std::int64_t memory() const {
    return memory_of(nodes, inputs, fields, shared, outputs) + static_cast<std::int64_t>(data.bytes_used());
  }
};

/// What all kept instances share. Entries never move and never change.
///
/// Thread safety: any thread at any time.
class KeptKinds {
 public:
  const KindOfNode* kind(std::vector<std::uint32_t> key, const OpInfo* info, std::span<const std::uint32_t> attrs);
  /// Null if it is not known.
  const KeptShared* find_shared(std::uint64_t uid, const Type& type);
  const KeptShared* add_shared(KeptShared shared);
  /// Keeps objects alive that signatures point to, and sentences for explain().
  void hold(std::span<const std::shared_ptr<const void>> objects,
            std::span<const std::pair<std::uint64_t, std::string>> notes);
  std::vector<std::pair<std::uint64_t, std::string>> notes() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::vector<std::uint32_t>, std::unique_ptr<const KindOfNode>> kinds_;
  std::map<std::uint64_t, std::vector<std::unique_ptr<const KeptShared>>> shared_;
  std::size_t shared_count_ = 0;
  std::set<std::shared_ptr<const void>> held_;
  std::map<std::uint64_t, std::string> notes_;
};

/// How much of an instance was recorded at some moment.
struct InstanceMark {
  explicit InstanceMark(const Graph& graph);

  std::int32_t nodes;
  std::int32_t instances;
  std::uint32_t random_ops;
};

/// Reads what was recorded since `before`, for `outputs`. Refuses (UsageError) what cannot be kept.
std::unique_ptr<KeptInstance> read_instance(const Graph& graph, const InstanceMark& before,
                                            std::span<const Expr> outputs, KeptKinds& kinds);

/// Appends them to a graph, and the outputs to `outputs`. False, with nothing appended, where a parameter is of another
/// type by now. `kept` outlives the graph's records; `recordings` is its uid.
bool write_instance(Graph& graph, const KeptInstance& instance, std::uint64_t recordings, const KeptKinds& kinds,
                    const std::shared_ptr<const void>& kept, std::vector<Expr>& outputs);

}  // namespace espalier
