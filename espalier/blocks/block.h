/// Block: a piece of a model, from one typed input to one typed output; see blocks.h for all kinds.
///
/// A Block is a handle: copies are the same block, and it may be used in several places, which then share everything.
/// Types are found while blocks are wired. A clash is a UsageError at the line that wired them; blocks that took part
/// in a refused wiring are not to be used further.
///
/// Thread safety: blocks that are wired together belong to one thread while they are wired. A Program (program.h) made
/// of them may be used by any number.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/base/source_line.h"
#include "espalier/blocks/function.h"
#include "espalier/blocks/type.h"
#include "espalier/graph/parameter.h"
#include "espalier/tensor/tensor.h"

namespace espalier::blocks {

class BlockNode;
struct Pool;

class ESPALIER_EXPORT Block {
 public:
  /// For blocks themselves.
  Block(std::shared_ptr<Pool> pool, BlockNode* node) : pool_(std::move(pool)), node_(node) {}

  /// Gives it a name, which messages and paths use; the same block.
  Block named(std::string name) const;
  /// Says what its input or output is. Refuses (UsageError) what differs from what is known.
  Block takes(const Type& input, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) const;
  Block gives(const Type& output, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) const;

  /// What is known so far; refuse (UsageError) where something is not.
  Type input_type() const;
  Type output_type() const;
  /// As texts, with ? for what is not known.
  std::string input_text() const;
  std::string output_text() const;

  /// What made it, without the blocks inside: `one_hot(0, 10)`.
  std::string label() const;
  /// All blocks inside, one a line, with their names and types.
  std::string describe() const;

  const std::shared_ptr<Pool>& pool() const { return pool_; }
  BlockNode* node() const { return node_; }

 private:
  std::shared_ptr<Pool> pool_;
  BlockNode* node_;
};

/// A callable as a block; see function.h for what it may take and give.
ESPALIER_EXPORT Block function_block(FunctionSpec spec, SourceLine where);
/// A constant or a parameter as a block.
ESPALIER_EXPORT Block tensor_block(const Tensor& tensor, SourceLine where);
ESPALIER_EXPORT Block parameter_block(const Parameter& parameter, SourceLine where);

template <class F>
concept BlockFunction = HasSignatures<F> && !std::derived_from<std::remove_cvref_t<F>, Block>;

/// What every block takes: converts from a Block, a callable, a layer, a cell, a parameter, a tensor or a list of such
/// (a record by position) at the user's line, and remembers that line.
class ESPALIER_EXPORT BlockArg {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  BlockArg(const Block& block, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : block_(block), where_{file, line} {}
  template <class T>
  requires std::is_convertible_v<const T&, Block> &&
      (!std::derived_from<T, Block>)BlockArg(const T& whole, const char* file = __builtin_FILE(),
                                             std::int32_t line = __builtin_LINE())
      : BlockArg(static_cast<Block>(whole), file, line) {}
  template <BlockFunction F>
  BlockArg(F f, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : BlockArg(function_block(make_function_spec<F>(std::move(f), detail::kFunctionLabel), {file, line}), file,
                 line) {}
  BlockArg(const Parameter& parameter, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : BlockArg(parameter_block(parameter, {file, line}), file, line) {}
  BlockArg(const Tensor& tensor, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : BlockArg(tensor_block(tensor, {file, line}), file, line) {}
  BlockArg(std::initializer_list<BlockArg> items, const char* file = __builtin_FILE(),
           std::int32_t line = __builtin_LINE());
  // NOLINTEND(google-explicit-constructor)

  const Block& block() const { return block_; }
  SourceLine where() const { return where_; }

 private:
  Block block_;
  SourceLine where_;
};

/// a >> b : runs a, then b on its result.
/// Type: x -> y, y -> z  makes  x -> z
/// Meaning: a pipe of any length; parentheses make no difference.
/// Example: auto word = get("word") >> lookup(vocabulary) >> embedding(words);
/// Errors: the output type of a is not the input type of b.
ESPALIER_EXPORT Block operator>>(const BlockArg& first, const BlockArg& second);

}  // namespace espalier::blocks
