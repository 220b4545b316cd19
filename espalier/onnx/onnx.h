/// ONNX export: one static graph that evaluates networks of any shape, because the structure is fed in as data.
///
///   esp::onnx::write("model.onnx", {"scores"}, samples);     // samples: one list of outputs per recorded instance
///   const esp::onnx::Weaver weaver("model.onnx");
///   for (const esp::onnx::Call& call : weaver.weave(instances)) session.run(call.feeds);   // ONNX Runtime, anywhere
///
/// The file has one operation per signature that occurs in the samples, in the body of a Loop over steps, and the
/// weights. The inputs of the file are a schedule: which rows each operation reads in each step. A Weaver makes them
/// from recorded instances; docs/static_graphs.md has the format, and examples/onnx_weaver.py makes them without
/// Espalier.
///
/// Record the samples outside of training, in float32, such that together they use every op, cell and kind of row, with
/// every shape, that later instances will use: a Weaver refuses by name what no sample had. Computes nothing but what
/// is made from parameters alone.
///
/// Thread safety: any number of threads may use a Weaver, each with graphs of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/expr.h"

namespace espalier::onnx {

/// The outputs of one recorded instance, one Expr per name. Those of many rows give many rows.
using Instance = std::vector<Expr>;

struct WriteOptions {
  /// More entries for the metadata of the file.
  std::map<std::string, std::string> metadata = {};  // NOLINT(readability-redundant-member-init): may be left out
  /// Weights to store even if no output reads them, such as those that decode the outputs.
  std::vector<const Parameter*> also = {};  // NOLINT(readability-redundant-member-init)
  /// If the weights have more bytes, they go to a file beside the model, with ".data" added to its name: a protocol
  /// buffer holds no more than 2 GB.
  std::int64_t most_inside = 1'900'000'000;
};

/// Writes an ONNX file (opset 18) for the samples, whose outputs have these names. The samples belong to one graph.
/// Refuses (UsageError) no samples, an instance with another number of outputs, an output whose rows differ in shape
/// between instances, float64, and, by name and with a reason, ops without an ONNX form: random ones and your own.
ESPALIER_EXPORT void write(const std::filesystem::path& path, const std::vector<std::string>& outputs,
                           std::span<const Instance> samples, const WriteOptions& options = {});

/// One input of the file: int64 or float32.
struct Feed {
  std::string name;
  std::vector<std::int64_t> shape = {};     // NOLINT(readability-redundant-member-init): any may be left out
  std::vector<std::int64_t> integers = {};  // NOLINT(readability-redundant-member-init)
  std::vector<float> numbers = {};          // NOLINT(readability-redundant-member-init)
  bool is_float = false;
};

/// What one run of the file computes: instances `first` to `first + count - 1`.
struct Call {
  std::vector<Feed> feeds;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Instances as a plain list: what a Weaver reads from a graph, and what any other program can write down.
struct NodeList {
  /// One per node, in an order in which operands come first: the signature, by its number in the file.
  std::vector<std::int32_t> signatures;
  /// Operands of all nodes, as values. Results of node 0 are the first values, then those of node 1, and so on.
  std::vector<std::int32_t> operands;
  /// Where the operands of each node end.
  std::vector<std::int64_t> operand_ends;
  /// The field of each node: a row of a table or of `rows`, an element, a place in `numbers`; 0 if it has none.
  std::vector<std::int64_t> fields;
  /// Fields that are numbers.
  std::vector<float> numbers;
  /// Input data, by the number of elements of a row.
  std::map<std::int64_t, std::vector<float>> rows;
  /// The values of each output.
  std::vector<std::vector<std::int32_t>> outputs;
};

class ESPALIER_EXPORT Weaver {
 public:
  /// The most nodes of one call; weave() makes several calls of more.
  static constexpr std::int64_t kMostNodes = 1'000'000;

  /// Reads what write() wrote. Refuses (ResourceError) a file that cannot be read, and (DataError) any other file.
  explicit Weaver(const std::filesystem::path& path);
  ~Weaver();
  Weaver(Weaver&&) noexcept;
  Weaver& operator=(Weaver&&) noexcept;

  /// The inputs for these instances, whose outputs stand in the order of the file's. Refuses (UsageError) a signature
  /// that no sample had, by name, and a single instance of more than kMostNodes nodes.
  std::vector<Call> weave(std::span<const Instance> instances) const;
  /// The nodes of instances.
  NodeList read(std::span<const Instance> instances) const;
  /// The inputs for a list of nodes. Refuses (UsageError) a list that does not fit the file.
  std::vector<Feed> weave(const NodeList& nodes) const;
  /// Refuses (UsageError), with a sentence, inputs that do not fit the file or that read a row that is not there.
  void check(std::span<const Feed> feeds) const;

  /// Names of signatures and outputs, by their numbers.
  std::vector<std::string> signatures() const;
  std::vector<std::string> outputs() const;
  /// An entry of the metadata; empty if there is none.
  std::string metadata(const std::string& key) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace espalier::onnx
