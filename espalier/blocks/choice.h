/// Blocks that choose, recur and remember.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/blocks/block.h"
#include "espalier/blocks/input_blocks.h"

namespace espalier::blocks {

/// A key that is read from an object without detours: most of what choosing costs.
struct DirectKey {
  std::int64_t (*read)(const void* member, const void* object) = nullptr;
  std::shared_ptr<const void> member;
};

/// What one_of() chooses by: a whole number or a text of the input.
class ESPALIER_EXPORT KeyFunction {
 public:
  /// For blocks themselves: a block from the input to an input that is the key.
  explicit KeyFunction(Block block, DirectKey direct = {}) : block_(std::move(block)), direct_(std::move(direct)) {}
  const Block& block() const { return block_; }
  const DirectKey& direct() const { return direct_; }

 private:
  Block block_;
  DirectKey direct_;
};

/// key(name) : what one_of() chooses by: what the input has for this name, as get() finds it.
/// Type: input -> a whole number or a text
/// Meaning: also key(&T::member) and key(f), a function of the input; they may give an enumeration or a bool too.
/// Example: auto form = one_of(key([](int x) { return x % 2; }), {{0, scalar()}, {1, zeros(Shape{})}});
/// Errors: data that are neither whole number nor text (DataError).
ESPALIER_EXPORT KeyFunction key(std::string name, const char* file = __builtin_FILE(),
                                std::int32_t line = __builtin_LINE());
inline KeyFunction key(const char* name, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return key(std::string(name), file, line);
}
/// itself() : what one_of() chooses by: the input itself.
/// Type: input -> a whole number or a text
/// Meaning: as key().
/// Example: auto colour = one_of(itself(), {{"red", from_tensor(Tensor({1}, {1}))}, {"blue", zeros(1)}});
/// Errors: as key().
ESPALIER_EXPORT KeyFunction itself(const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
template <class T, class Member>
KeyFunction key(Member T::*member, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  DirectKey direct;
  if constexpr (detail::NumberLike<std::remove_cvref_t<std::invoke_result_t<Member T::*, const T&>>>) {
    direct.member = std::make_shared<Member T::*>(member);
    direct.read = [](const void* pointer, const void* object) {
      return static_cast<std::int64_t>(
          std::invoke(*static_cast<Member T::*const*>(pointer), *static_cast<const T*>(object)));
    };
  }
  return KeyFunction(get(member, file, line), std::move(direct));
}
template <BlockFunction F>
KeyFunction key(F f, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return KeyFunction(input_transform(std::move(f), file, line));
}

struct Case {
  Case(Key key_of_case, BlockArg block_for_it) : key(std::move(key_of_case)), block(std::move(block_for_it)) {}
  Key key;
  BlockArg block;
};

/// one_of(key, {{key, block}, ...}) : the block that the data choose.
/// Type: a -> b, the same for all cases; a is an input, or a tuple that begins with one
/// Meaning: reads the key from the input, and runs the block of that case alone. With a block `before`, the cases get
/// what that makes of the input.
/// Example: tree.resolve_to(one_of(key("kind"), {{"leaf", leaf}, {"node", inner}}));
/// Errors: cases whose types differ; no cases; a case given twice; data with another key (DataError).
ESPALIER_EXPORT Block one_of(const KeyFunction& key, const std::vector<Case>& cases,
                             const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
ESPALIER_EXPORT Block one_of(const KeyFunction& key, const std::vector<Case>& cases, const BlockArg& before);

/// optional(some, none) : a block for what may be null.
/// Type: input -> a;  with some: input -> a and none: nothing -> a
/// Meaning: `some` for data that are there, `none` for null, an empty pointer or an empty optional: zeros, or an empty
/// sequence, unless said.
/// Example: auto left = get(&Tree::left) >> optional(tree());
/// Errors: types that differ; a type that has no zeros.
ESPALIER_EXPORT Block optional(const BlockArg& some);
ESPALIER_EXPORT Block optional(const BlockArg& some, const BlockArg& none);

/// forward(name) : a block that is used before it is there: recursion.
/// Type: that of the block it is resolved to
/// Meaning: tree() is the block, wherever it is used; resolve_to() says once what it is. Several may call each other.
/// The depth of the data is no limit.
/// Example:
///   Forward tree = forward("tree");
///   auto inner = record({{"left", tree()}, {"right", tree()}}) >> node_cell;
///   tree.resolve_to(one_of(key("kind"), {{"leaf", leaf}, {"node", inner}}));
/// Errors: never resolved, or twice; a block that is nothing but itself.
class ESPALIER_EXPORT Forward {
 public:
  explicit Forward(Block block) : block_(std::move(block)) {}
  Block operator()() const { return block_; }
  void resolve_to(const BlockArg& body) const;

 private:
  Block block_;
};
ESPALIER_EXPORT Forward forward(std::string name, const char* file = __builtin_FILE(),
                                std::int32_t line = __builtin_LINE());

/// shared(block) : what was computed for the same piece of data is used again.
/// Type: input -> a
/// Meaning: within one instance, the block runs once for each piece of data, however often that is reached: a node of a
/// DAG with several parents. The same is the same object; of Values, the same payload.
/// Example: dag.resolve_to(shared(node));
/// Errors: an input that is not data; data that go in a circle (DataError).
ESPALIER_EXPORT Block shared(const BlockArg& block);

}  // namespace espalier::blocks
