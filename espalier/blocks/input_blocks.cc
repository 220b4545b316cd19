#include "espalier/blocks/input_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "espalier/base/error.h"
#include "espalier/blocks/build.h"
#include "espalier/blocks/emitter.h"
#include "espalier/blocks/key_reader.h"
#include "espalier/blocks/numbers.h"
#include "espalier/blocks/walk.h"
#include "espalier/nn/embedding.h"

namespace espalier::blocks {
namespace {

/// What reads an input and makes a tensor of one shape from it.
class LeafNode : public BlockNode {
 public:
  LeafNode(std::string label, const Shape& shape) : label_(std::move(label)), shape_(shape) {}

  std::string label() const override { return label_; }
  void infer(Inference& types) override {
    types.output_is(*this, types.tensor(shape_));
    Term* given = types.look(in, *this);
    if (given->is(Term::Kind::kUnknown)) return;
    if (!given->is(Term::Kind::kInput)) types.refuse_kind(*this, given, "data (input<T>)");
    if (!can_read(*given->input)) types.refuse_kind(*this, given, expected());
  }

 protected:
  const Shape& shape() const { return shape_; }
  virtual bool can_read(const InputType& type) const = 0;
  virtual std::string expected() const = 0;

 private:
  std::string label_;
  Shape shape_;
};

struct NumbersSpec {
  Shape shape;
  const InputType* type;
  SourceLine where;
};

void read_leaf(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const NumbersSpec*>(at.data);
  const void* object = walk.in(at, 0).input;
  Graph& graph = walk.graph();
  if (graph.options().dtype == DType::kFloat64) {
    Tensor numbers(spec.shape, DType::kFloat64);
    read_numbers(*spec.type, object, spec.shape, numbers.as<double>().data(), *walk.keep);
    walk.out(at, 0).expr = graph.input(numbers, spec.where.file(), spec.where.line());
    return;
  }
  thread_local std::vector<float> numbers;
  numbers.resize(static_cast<std::size_t>(spec.shape.elements()));
  read_numbers(*spec.type, object, spec.shape, numbers.data(), *walk.keep);
  walk.out(at, 0).expr = graph.input(spec.shape, numbers, spec.where.file(), spec.where.line());
}

class NumbersNode : public LeafNode {
 public:
  using LeafNode::LeafNode;

  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers result = to.result(out, want);
    emit_numbers(to, *resolve(in)->input, shape(), in_registers, result, where);
    return result;
  }

 protected:
  bool can_read(const InputType& type) const override { return can_read_numbers(type, shape()); }
  std::string expected() const override {
    return shape().rank() == 0 ? "data that is a number" : "data that is a list of numbers";
  }
};

struct OneHotSpec {
  const InputType* type;
  std::int64_t start = 0;
  Shape shape;
  std::vector<Key> elements;
  Unknown unknown;
  SourceLine where;
};

std::int64_t place_in(const OneHotSpec& spec, const void* object) {
  if (spec.elements.empty()) {
    const std::int64_t number = read_integer(*spec.type, object);
    const std::int64_t count = spec.shape.elements();
    if (number < spec.start || number >= spec.start + count)
      refuse_data(fmt::format("{} is not between {} and {}", number, spec.start, spec.start + count - 1));
    return number - spec.start;
  }
  const KeyView key = read_key(*spec.type, object);
  const auto found =
      std::find_if(spec.elements.begin(), spec.elements.end(), [&](const Key& element) { return key.is(element); });
  if (found != spec.elements.end()) return found - spec.elements.begin();
  if (spec.unknown == Unknown::kRefused) refuse_data(fmt::format("{} is not one of its elements", key.to_text()));
  return -1;
}

void make_one_hot(Walk& walk, const Instruction& at) {
  const auto& spec = *static_cast<const OneHotSpec*>(at.data);
  const std::int64_t place = place_in(spec, walk.in(at, 0).input);
  thread_local std::vector<float> numbers;
  numbers.assign(static_cast<std::size_t>(spec.shape.elements()), 0.0F);
  if (place >= 0) numbers[static_cast<std::size_t>(place)] = 1;
  walk.out(at, 0).expr = walk.graph().input(spec.shape, numbers, spec.where.file(), spec.where.line());
}

class OneHotNode : public LeafNode {
 public:
  OneHotNode(std::string label, std::int64_t start, std::int64_t count, std::vector<Key> elements, Unknown unknown)
      : LeafNode(std::move(label), {count}), start_(start), elements_(std::move(elements)), unknown_(unknown) {}

  Registers emit(Emitter& to, const Registers& in_registers, const Registers* want) override {
    Registers result = to.result(out, want);
    to.native<&make_one_hot>(in_registers, result,
                             to.own(OneHotSpec{resolve(in)->input, start_, shape(), elements_, unknown_, where}));
    return result;
  }

 protected:
  bool can_read(const InputType& type) const override {
    return type.integer != nullptr || (!elements_.empty() && type.text != nullptr);
  }
  std::string expected() const override {
    return elements_.empty() ? "data that is a whole number" : "data that is a whole number or a string";
  }

 private:
  std::int64_t start_;
  std::vector<Key> elements_;
  Unknown unknown_;
};

}  // namespace

bool can_read_numbers(const InputType& type, const Shape& shape) {
  return type.tensor != nullptr || (shape.rank() == 0 ? type.number != nullptr : type.elements != nullptr);
}

void emit_numbers(Emitter& to, const InputType& type, const Shape& shape, const Registers& from, const Registers& into,
                  SourceLine where) {
  to.native<&read_leaf>(from, into, to.own(NumbersSpec{shape, &type, where}));
}

std::string Key::to_text() const { return is_text_ ? fmt::format("\"{}\"", text_) : fmt::format("{}", number_); }

Block scalar(const char* file, std::int32_t line) {
  return make_block<NumbersNode>({file, line}, {}, "scalar()", Shape());
}

Block vector(std::int32_t size, const char* file, std::int32_t line) {
  return make_block<NumbersNode>({file, line}, {}, fmt::format("vector({})", size), Shape{size});
}

Block tensor(const Shape& shape, const char* file, std::int32_t line) {
  return make_block<NumbersNode>({file, line}, {}, fmt::format("tensor({})", shape.to_string()), shape);
}

Block one_hot(std::int64_t start, std::int64_t stop, const char* file, std::int32_t line) {
  const std::string label = fmt::format("one_hot({}, {})", start, stop);
  const SourceLine where{file, line};
  if (stop <= start)
    throw UsageError(
        fmt::format("{}: the range from {} to below {} is empty\n  at {}", label, start, stop, where.to_string()));
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (const std::uint64_t count = static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start); count > kMost)
    throw UsageError(fmt::format("{}: it has {} elements; at most {} are supported\n  at {}", label, count, kMost,
                                 where.to_string()));
  return make_block<OneHotNode>(where, {}, label, start, stop - start, std::vector<Key>(), Unknown::kRefused);
}

Block one_hot(const std::vector<Key>& elements, Unknown unknown, const char* file, std::int32_t line) {
  const std::string label = fmt::format("one_hot({} elements)", elements.size());
  const SourceLine where{file, line};
  if (elements.empty())
    throw UsageError(fmt::format("{}: it needs at least one element\n  at {}", label, where.to_string()));
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (std::find(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(i), elements[i]) !=
        elements.begin() + static_cast<std::ptrdiff_t>(i))
      throw UsageError(
          fmt::format("{}: element {} is given twice\n  at {}", label, elements[i].to_text(), where.to_string()));
  return make_block<OneHotNode>(where, {}, label, std::int64_t{0}, std::ssize(elements), elements, unknown);
}

Vocabulary::Vocabulary(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (!numbers_.emplace(word, static_cast<std::int32_t>(numbers_.size())).second)
      throw UsageError(fmt::format("vocabulary: the word \"{}\" is given twice", word));
}

Vocabulary& Vocabulary::unknown(std::int32_t number) {
  unknown_ = number;
  return *this;
}

std::int32_t Vocabulary::find(std::string_view word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() ? unknown_ : found->second;
}

Block lookup(const Vocabulary& vocabulary, const char* file, std::int32_t line) {
  const auto shared = std::make_shared<const Vocabulary>(vocabulary);
  const auto find = [shared](std::string_view word) {
    const std::int32_t number = shared->find(word);
    if (number < 0) refuse_data(fmt::format("the word \"{}\" is not in the vocabulary", word));
    return number;
  };
  return function_block(make_function_spec(find, fmt::format("lookup({} words)", vocabulary.size())), {file, line});
}

Block embedding(const nn::Embedding& table, const char* file, std::int32_t line) {
  const Parameter& weights = table.table();
  return function_block(
      make_function_spec(table, fmt::format("embedding({}{})", weights.name(), weights.shape().to_string())),
      {file, line});
}

}  // namespace espalier::blocks
