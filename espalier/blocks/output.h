/// What a model gives: a tree of tensors, or of the Exprs that stand for them, in the form of its output type.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/export.h"
#include "espalier/blocks/input_type.h"
#include "espalier/blocks/slot.h"
#include "espalier/blocks/type.h"
#include "espalier/data/value.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/state.h"
#include "espalier/tensor/tensor.h"

namespace espalier::blocks {

/// Leaf is Expr (Output) or Tensor (Result).
template <class Leaf>
class OutputTree {
 public:
  /// void
  OutputTree() = default;
  OutputTree(Type type, Leaf leaf) : type_(std::move(type)), leaf_(std::move(leaf)) {}
  OutputTree(Type type, const void* input, std::shared_ptr<const void> keep)
      : type_(std::move(type)), input_(input), keep_(std::move(keep)) {}
  OutputTree(Type type, std::vector<OutputTree> items) : type_(std::move(type)), items_(std::move(items)) {}

  const Type& type() const { return type_; }
  /// The tensor or Expr. Refuses (UsageError) an output of another kind.
  const Leaf& leaf() const {
    require(type_.is(Type::Kind::kTensor), "a tensor");
    return leaf_;
  }
  /// The number of a tensor of one element.
  double item() const requires std::is_same_v<Leaf, Tensor> { return leaf().item(); }
  /// The items of a tuple, the elements of a sequence; an infinite one has its one element.
  const std::vector<OutputTree>& items() const { return items_; }
  std::size_t size() const { return items_.size(); }
  const OutputTree& operator[](std::size_t i) const {
    require(i < items_.size(), "an item at that place");
    return items_[i];
  }
  /// An input that was passed through. Of an object that you gave, the same; one that the model made lives as long as
  /// this. Refuses (UsageError) another type.
  template <class T>
  const T& input() const {
    require(type_.is(Type::Kind::kInput) && type_.input_of() == &input_type<T>(), "an input of the C++ type asked for");
    require(input_ != nullptr, "an input that is not null");
    return *static_cast<const T*>(input_);
  }
  const void* address() const { return input_; }

  /// All tensors in it, in order.
  std::vector<Leaf> leaves() const {
    std::vector<Leaf> all;
    add_leaves(all);
    return all;
  }
  /// The same form with other tensors, in order. Refuses (UsageError) another number of them.
  OutputTree with_leaves(const std::vector<Leaf>& leaves) const {
    std::size_t next = 0;
    OutputTree result = refilled(leaves, next);
    require(next == leaves.size(), "as many tensors as are given");
    return result;
  }

  /// As a C++ type: Leaf, nn::LstmState, std::vector, std::pair or std::tuple of such.
  template <class T>
  T as() const {
    return As<T>::get(*this);
  }

  /// The same form, with f(leaf) for each leaf.
  template <class F>
  auto transformed(const F& f) const {
    using Other = OutputTree<std::invoke_result_t<F, const Leaf&>>;
    if (type_.is(Type::Kind::kTensor)) return Other(type_, f(leaf_));
    if (type_.is(Type::Kind::kInput)) return Other(type_, input_, keep_);
    std::vector<Other> items;
    for (const OutputTree& item : items_) items.push_back(item.transformed(f));
    return Other(type_, std::move(items));
  }

 private:
  template <class T>
  struct As {
    static T get(const OutputTree& tree) {
      static_assert(std::is_same_v<T, Leaf>, "a tensor, or vectors, pairs and tuples of such");
      return tree.leaf();
    }
  };
  template <class T>
  struct As<std::vector<T>> {
    static std::vector<T> get(const OutputTree& tree) {
      tree.require(!tree.type_.is(Type::Kind::kTensor) && !tree.type_.is(Type::Kind::kInput), "a sequence");
      std::vector<T> result;
      for (const OutputTree& item : tree.items_) result.push_back(item.template as<T>());
      return result;
    }
  };
  template <class A, class B>
  struct As<std::pair<A, B>> {
    static std::pair<A, B> get(const OutputTree& tree) {
      tree.require(tree.size() == 2, "a pair");
      return {tree[0].template as<A>(), tree[1].template as<B>()};
    }
  };
  template <class... Items>
  struct As<std::tuple<Items...>> {
    static std::tuple<Items...> get(const OutputTree& tree) {
      tree.require(tree.size() == sizeof...(Items), "a tuple of as many items");
      return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return std::tuple<Items...>{tree[i].template as<Items>()...};
      }
      (std::index_sequence_for<Items...>());
    }
  };
  template <class T>
  requires std::is_same_v<T, nn::LstmState>
  struct As<T> {
    static T get(const OutputTree& tree) {
      tree.require(tree.size() == 2, "a pair");
      return {tree[0].leaf(), tree[1].leaf()};
    }
  };

  void require(bool fulfilled, const char* expected) const {
    if (!fulfilled) throw UsageError("output: it is " + type_.to_text() + ", not " + expected);
  }
  void add_leaves(std::vector<Leaf>& to) const {
    if (type_.is(Type::Kind::kTensor)) to.push_back(leaf_);
    for (const OutputTree& item : items_) item.add_leaves(to);
  }
  OutputTree refilled(const std::vector<Leaf>& leaves, std::size_t& next) const {
    OutputTree result = *this;
    if (type_.is(Type::Kind::kTensor)) {
      require(next < leaves.size(), "as many tensors as are given");
      result.leaf_ = leaves[next++];
    }
    for (OutputTree& item : result.items_) item = item.refilled(leaves, next);
    return result;
  }

  Type type_;
  Leaf leaf_{};
  const void* input_ = nullptr;
  std::shared_ptr<const void> keep_;
  std::vector<OutputTree> items_;
};

/// Exprs, to be combined with others on their graph.
using Output = OutputTree<Expr>;
/// Computed.
using Result = OutputTree<Tensor>;

/// From the slots of a walk; `keep` is what inputs may live in.
ESPALIER_EXPORT Output read_output(const Type& type, const Slot*& slots, const std::shared_ptr<Keep>& keep);
/// As data: tensors as lists of numbers, tuples and sequences as lists, inputs as they are or as numbers and texts.
ESPALIER_EXPORT Value to_value(const Result& result);

}  // namespace espalier::blocks
