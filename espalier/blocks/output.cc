#include "espalier/blocks/output.h"

namespace espalier::blocks {
namespace {

Value value_of(const Tensor& tensor, std::int32_t axis, std::int64_t& next) {
  if (axis == tensor.shape().rank()) return Value(tensor.at(next++));
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(tensor.shape()[axis]));
  for (std::int32_t i = 0; i < tensor.shape()[axis]; ++i) items.push_back(value_of(tensor, axis + 1, next));
  return Value::list(std::move(items));
}

Value value_of(const InputType& type, const void* object) {
  if (is_null(type, object)) return nullptr;
  Value value;
  if (type.to_value != nullptr) {
    type.to_value(object, value);
    return value;
  }
  if (std::int64_t integer = 0; type.integer != nullptr && type.integer(object, integer)) return integer;
  if (double number = 0; type.number != nullptr && type.number(object, number)) return number;
  if (std::string_view text; type.text != nullptr && type.text(object, text)) return text;
  throw UsageError("output: an input<" + type.name + "> cannot be turned into a Value");
}

}  // namespace

Output read_output(const Type& type, const Slot*& slots, const std::shared_ptr<Keep>& keep) {
  switch (type.kind()) {
    case Type::Kind::kTensor: return {type, (slots++)->expr};
    case Type::Kind::kInput: return {type, (slots++)->input, keep};
    case Type::Kind::kVoid: return {};
    case Type::Kind::kSequence: {
      const Slot::Sequence sequence = (slots++)->sequence;
      const Slot* next = sequence.data;
      std::vector<Output> items;
      for (std::int64_t i = 0; i < sequence.count; ++i) items.push_back(read_output(type.element(), next, keep));
      return {type, std::move(items)};
    }
    default: {
      std::vector<Output> items;
      for (const Type& item : type.items()) items.push_back(read_output(item, slots, keep));
      return {type, std::move(items)};
    }
  }
}

Value to_value(const Result& result) {
  switch (result.type().kind()) {
    case Type::Kind::kTensor: {
      std::int64_t next = 0;
      return value_of(result.leaf(), 0, next);
    }
    case Type::Kind::kInput: return value_of(*result.type().input_of(), result.address());
    case Type::Kind::kVoid: return nullptr;
    case Type::Kind::kInfinite: return to_value(result[0]);
    default: {
      std::vector<Value> items;
      for (const Result& item : result.items()) items.push_back(to_value(item));
      return Value::list(std::move(items));
    }
  }
}

}  // namespace espalier::blocks
