/// Program: blocks, compiled. It records instances on graphs; eval() does all in one call.
///
///   const Program program(tree);
///   Graph g;
///   program.loss(g, batch).backward();        // what loss() blocks collected, the mean over the instances
///   const Result r = eval(tree, example);     // one instance, computed
///
/// Several programs may be made of blocks that share weights. Instances are begun as plain code begins them
/// (Graph::begin_instance), so that masks of dropout are those of the same model written by hand.
///
/// Thread safety: any number of threads may use a Program, each with graphs of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"
#include "espalier/blocks/input_type.h"
#include "espalier/blocks/instance_result.h"
#include "espalier/blocks/output.h"
#include "espalier/graph/graph.h"

namespace espalier::blocks {

struct Code;
class Walk;

struct ProgramOptions {
  /// Names or paths of blocks (Block::named) whose outputs a recording is to show, as tap() does.
  std::vector<std::string> watch = {};  // NOLINT(readability-redundant-member-init): may be left out
};

struct InstanceOptions {
  /// Instance i has the key first_key + i; without one, the keys that Graph::begin_instance() gives.
  std::optional<std::uint64_t> first_key = {};  // NOLINT(readability-redundant-member-init)
  /// The number of the first instance, for messages.
  std::int64_t first_number = 0;
};

/// What was recorded of several instances.
struct Recording {
  /// One an instance.
  std::vector<Output> outputs;
  struct Entry {
    std::string name;
    std::int64_t instance;
    Output value;
    Output label;  // void where there is none
  };
  /// Of metric() blocks, in the order of the instances and as they were met there.
  std::vector<Entry> metrics;
  /// Of tap() blocks and watched ones, likewise.
  std::vector<Entry> taps;
  /// Of loss() blocks: the sum over all instances, with weights; nothing if there were none.
  std::optional<Expr> loss;

  /// Those of one name.
  ESPALIER_EXPORT std::vector<Entry> metric(std::string_view name) const;
  ESPALIER_EXPORT std::vector<Entry> tap(std::string_view name) const;
};

class ESPALIER_EXPORT Program {
 public:
  /// Compiles a block for data of the C++ type that it takes; of Value, if it leaves that open. The block itself stays
  /// as it is, and can be compiled again for other data. Refuses (UsageError) types that cannot be found, declarations
  /// that are not resolved, outputs that no block uses.
  explicit Program(const BlockArg& block, const ProgramOptions& options = {});
  /// The same for data of type T.
  template <class T>
  static Program of(const BlockArg& block, const ProgramOptions& options = {}) {
    return Program(block, &input_type<T>(), options);
  }

  Type input_type_of_data() const;
  /// What the block takes; data are read into tensors, tuples and sequences where it takes such.
  const Type& block_input_type() const { return block_input_type_; }
  const Type& output_type() const { return output_type_; }
  /// The line that compiled it.
  SourceLine where() const { return where_; }

  /// Records one instance into what is the current instance of the graph.
  template <class T>
  Output record(Graph& graph, const T& input) const {
    const void* object = address(input);
    return record_one(graph, object);
  }
  /// Begins an instance for each input, and records it.
  template <detail::Iterable Inputs>
  Recording record_all(Graph& graph, const Inputs& inputs, const InstanceOptions& options = {}) const {
    return record_many(graph, addresses(inputs), options);
  }
  /// The mean over the inputs of what loss() blocks collect. Refuses (UsageError) a model that collects none, and no
  /// inputs.
  template <detail::Iterable Inputs>
  Expr loss(Graph& graph, const Inputs& inputs, const InstanceOptions& options = {}) const {
    return loss_of(graph, addresses(inputs), options);
  }
  /// Computes the output of one instance, and what it puts aside.
  template <class T>
  InstanceResult eval(const T& input, const GraphOptions& options = {.training = false}) const {
    return eval_one(address(input), options);
  }

  // --- for streams ---------------------------------------------------------------------------------------------------

  template <class T>
  const void* address(const T& input) const {
    require_type(input_type<detail::ReadAs<T>>());
    return detail::address_of(input);
  }
  Expr loss_of(Graph& graph, const std::vector<const void*>& inputs, const InstanceOptions& options) const;
  /// The sum over the inputs of what loss() blocks collect; nothing where they reach none. Refuses as loss() does.
  std::optional<Expr> sum_of_losses(Graph& graph, const std::vector<const void*>& inputs,
                                    const InstanceOptions& options) const;
  Recording record_many(Graph& graph, const std::vector<const void*>& inputs, const InstanceOptions& options) const;
  std::vector<InstanceResult> compute_many(const std::vector<const void*>& inputs, const GraphOptions& graph_options,
                                           const InstanceOptions& options) const;

 private:
  Program(const BlockArg& block, const InputType* input, const ProgramOptions& options);
  template <class Inputs>
  std::vector<const void*> addresses(const Inputs& inputs) const {
    static_assert(std::is_lvalue_reference_v<detail::ElementOf<Inputs>>,
                  "the inputs of a program must be in memory: make a std::vector of them, or use stream()");
    std::vector<const void*> result;
    if constexpr (requires { std::size(inputs); }) result.reserve(std::size(inputs));
    for (const auto& input : inputs) result.push_back(address(input));
    return result;
  }
  void require_type(const InputType& given) const;
  Output record_one(Graph& graph, const void* input) const;
  InstanceResult eval_one(const void* input, const GraphOptions& options) const;

  Block block_;  // holds the functions that the code calls
  SourceLine where_;
  std::shared_ptr<const Code> code_;
  const InputType* input_ = nullptr;
  Type block_input_type_;
  Type output_type_;
};

/// UsageError: "cannot compute a loss", and why.
[[noreturn]] ESPALIER_EXPORT void refuse_loss(const std::string& why);

/// eval(block, input) : computes a block on one input.
/// Type: any
/// Meaning: compiles the block, records the input and computes. For many inputs, compile a Program once.
/// Example: const double three = eval(map(scalar()) >> sum(), std::vector<float>{1, 2}).item();
/// Errors: those of Program, and of the data.
template <class T>
InstanceResult eval(const BlockArg& block, const T& input, const GraphOptions& options = {.training = false}) {
  return Program::of<detail::ReadAs<T>>(block).eval(input, options);
}
inline InstanceResult eval(const BlockArg& block, const char* text, const GraphOptions& options = {.training = false}) {
  return eval(block, std::string_view(text), options);
}

}  // namespace espalier::blocks
