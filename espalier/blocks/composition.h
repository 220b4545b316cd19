/// Blocks made of blocks: records, several blocks over one input, any wiring.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"

namespace espalier::blocks {

/// A field of a record: its key, and the block for it.
struct Field {
  Field(std::string name_of_field, BlockArg block_for_it)
      : name(std::move(name_of_field)), block(std::move(block_for_it)) {}
  std::string name;
  BlockArg block;
};

/// record({{key, block}, ...}) : a block for each field of the input.
/// Type: input -> (a, b, ...);  (x, y, ...) -> (a, b, ...)
/// Meaning: block i gets the field with key i of the input or, if the input is a tuple, its item i. The outputs form a
/// tuple in the order written.
/// Example: auto inner = record({{"left", tree()}, {"right", tree()}}) >> node_cell;
/// Errors: a tuple with another number of items; a type without such a field; data without it (DataError).
ESPALIER_EXPORT Block record(std::initializer_list<Field> fields, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());
ESPALIER_EXPORT Block record(const std::vector<Field>& fields, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());
/// record({block, ...}) : a block for each element of a list or item of a tuple.
/// Type: input -> (a, b, ...);  (x, y, ...) -> (a, b, ...)
/// Meaning: block i gets element or item i. A braced list of blocks is such a record wherever a block is expected.
/// Example: auto pair = record({scalar(), vector(3)});
/// Errors: like above; a list of another size (DataError).
ESPALIER_EXPORT Block record(std::initializer_list<BlockArg> blocks, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());
ESPALIER_EXPORT Block record(const std::vector<BlockArg>& blocks, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());

/// all_of({block, ...}) : several blocks over the same input.
/// Type: x -> (a, b, ...);  with no blocks: x -> void
/// Meaning: every block gets the input. The outputs form a tuple.
/// Example: auto mean_and_max = all_of({mean(), max()});
/// Errors: the input types of the blocks differ.
ESPALIER_EXPORT Block all_of(std::initializer_list<BlockArg> blocks, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());
ESPALIER_EXPORT Block all_of(const std::vector<BlockArg>& blocks, const char* file = __builtin_FILE(),
                             std::int32_t line = __builtin_LINE());

/// identity() : returns its input.
/// Type: a -> a
/// Meaning: does nothing and costs nothing.
/// Example: auto residual = all_of({identity(), layer});
/// Errors: none.
ESPALIER_EXPORT Block identity(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

/// nothing() : drops its input.
/// Type: a -> void
/// Meaning: for outputs that are not needed.
/// Example: auto first = all_of({get(0), get(1) >> nothing()});
/// Errors: none.
ESPALIER_EXPORT Block nothing(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());

class Composition;

/// What a wire is indexed with, a place or a key, and the line that does it.
class WireItem {
 public:
  // NOLINTBEGIN(google-explicit-constructor): written as it is
  template <std::integral T>
  WireItem(T place, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : place_(static_cast<std::int64_t>(place)), where_{file, line} {}
  template <std::convertible_to<std::string_view> T>
  WireItem(const T& key, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE())
      : key_(std::string_view(key)), where_{file, line} {}
  // NOLINTEND(google-explicit-constructor)

  std::int64_t place() const { return place_; }
  /// Nothing where it is a place.
  const std::optional<std::string>& key() const { return key_; }
  SourceLine where() const { return where_; }

 private:
  std::int64_t place_ = 0;
  std::optional<std::string> key_;
  SourceLine where_;
};

/// The output of a block in a Composition, or a part of it.
class ESPALIER_EXPORT Wire {
 public:
  /// Item i of a tuple, or what get(i) gives; the field of a record by its key, or what get(key) gives.
  Wire operator[](const WireItem& item) const;
  /// What the block reads: one wire, or several as a tuple. Once for each block.
  const Wire& reads(std::initializer_list<Wire> wires, const char* file = __builtin_FILE(),
                    std::int32_t line = __builtin_LINE()) const;
  const Wire& reads(const std::vector<Wire>& wires, const char* file = __builtin_FILE(),
                    std::int32_t line = __builtin_LINE()) const;
  const Wire& reads(const Wire& wire, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) const {
    return reads({wire}, file, line);
  }

 private:
  friend class Composition;
  Wire(Block composition, std::size_t child) : composition_(std::move(composition)), child_(child) {}
  Block composition_;
  std::size_t child_;
};

/// Composition : wires blocks in any way.
/// Type: depends on the wiring
/// Meaning: add() adds a block; reads() and connect() define what it reads; input() and output() are the two ends.
/// Blocks can be added and connected in any order. Conversion to a Block checks the whole.
/// Example:
///   Composition attend("attend");
///   const Wire scores = attend(map(score), attend.input());
///   attend.output().reads(attend(sum(), attend(map(weigh), scores)));
///   Block block = attend;
/// Errors: a cycle; a block that reads nothing, or that no block reads; an input connected twice; a wire that reads the
/// output or writes the input, or belongs to another composition; no output.
class ESPALIER_EXPORT Composition {
 public:
  explicit Composition(std::string name = "", const char* file = __builtin_FILE(),
                       std::int32_t line = __builtin_LINE());

  Wire input() const;
  Wire output() const;
  /// Puts a block in; what it reads is said later.
  Wire add(const BlockArg& block) const;
  /// Puts a block in that reads these wires.
  Wire operator()(const BlockArg& block, const Wire& wire) const;
  Wire operator()(const BlockArg& block, std::initializer_list<Wire> wires) const;
  Wire operator()(const BlockArg& block, const std::vector<Wire>& wires) const;
  void connect(const Wire& from, const Wire& to, const char* file = __builtin_FILE(),
               std::int32_t line = __builtin_LINE()) const;
  /// Names for wires, to find them again. Refuse (UsageError) a name that is taken, or that nobody gave.
  void name(const std::string& name, const Wire& wire) const;
  Wire wire(const std::string& name) const;
  /// The same composition; blocks that are added through it have `part` in their path.
  Composition scope(const std::string& part) const;

  operator Block() const;  // NOLINT(google-explicit-constructor): it is one

 private:
  explicit Composition(Block block, std::string scope) : block_(std::move(block)), scope_(std::move(scope)) {}
  Block block_;
  std::string scope_;
};

}  // namespace espalier::blocks
