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

/// key(name) : chooses a case of one_of() by a field of the input.
/// Type: input -> a whole number or a text
/// Meaning: reads the field as get(name) does. key(&T::member) reads a member, and key(f) calls a function of the
/// input; both may also return an enumeration or a bool.
/// Example: auto form = one_of(key([](int x) { return x % 2; }), {{0, scalar()}, {1, zeros(Shape{})}});
/// Errors: the value is neither a whole number nor a text (DataError).
ESPALIER_EXPORT KeyFunction key(std::string name, const char* file = __builtin_FILE(),
                                std::int32_t line = __builtin_LINE());
inline KeyFunction key(const char* name, const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE()) {
  return key(std::string(name), file, line);
}
/// itself() : chooses a case of one_of() by the input itself.
/// Type: input -> a whole number or a text
/// Meaning: like key(), with the whole input as the key.
/// Example: auto colour = one_of(itself(), {{"red", from_tensor(Tensor({1}, {1}))}, {"blue", zeros(1)}});
/// Errors: like key().
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

/// one_of(key, {{key, block}, ...}) : runs the one block that the data choose.
/// Type: a -> b, the same for all cases; a is an input, or a tuple that begins with one
/// Meaning: reads the key from the input and runs only the block of that case. With a block `before`, the cases get its
/// output instead of the input.
/// Example: tree.resolve_to(one_of(key("kind"), {{"leaf", leaf}, {"node", inner}}));
/// Errors: the types of the cases differ; there are no cases; a case is given twice; the data have another key
/// (DataError).
ESPALIER_EXPORT Block one_of(const KeyFunction& key, const std::vector<Case>& cases,
                             const char* file = __builtin_FILE(), std::int32_t line = __builtin_LINE());
ESPALIER_EXPORT Block one_of(const KeyFunction& key, const std::vector<Case>& cases, const BlockArg& before);

/// optional(some, none) : a block for data that may be null.
/// Type: input -> a;  with some: input -> a and none: nothing -> a
/// Meaning: runs `some` if there are data, and `none` for null, an empty pointer or an empty optional. The default for
/// `none` is zeros, or an empty sequence.
/// Example: auto left = get(&Tree::left) >> optional(tree());
/// Errors: the types of both differ; the type has no zeros.
ESPALIER_EXPORT Block optional(const BlockArg& some);
ESPALIER_EXPORT Block optional(const BlockArg& some, const BlockArg& none);

/// forward(name) : declares a block before it is defined, for recursion.
/// Type: the type of the block that it is resolved to
/// Meaning: tree() is the block, for use anywhere; resolve_to() defines it, once. Several declarations may refer to
/// each other. Data may be nested to any depth.
/// Example:
///   Forward tree = forward("tree");
///   auto inner = record({{"left", tree()}, {"right", tree()}}) >> node_cell;
///   tree.resolve_to(one_of(key("kind"), {{"leaf", leaf}, {"node", inner}}));
/// Errors: it is never resolved, or twice; it is resolved to itself.
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

/// shared(block) : runs a block once per piece of data, however often the data refer to it.
/// Type: input -> a
/// Meaning: within an instance, a node of a DAG that has several parents is computed once. Data are the same if they
/// are the same object; Values, if they share their payload.
/// Example: dag.resolve_to(shared(node));
/// Errors: the input is not data; the data contain a cycle (DataError).
ESPALIER_EXPORT Block shared(const BlockArg& block);

}  // namespace espalier::blocks
