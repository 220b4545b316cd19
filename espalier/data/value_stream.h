/// A stream of Values, made one at a time when asked for: what the readers of files give.
///
///     for (const Value& example : data::json_lines("train.jsonl")) use(example);
///
/// Thread safety: a stream belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "espalier/data/value.h"

namespace espalier::data {

class ValueStream {
 public:
  /// `next` gives one Value after the other, and nothing at the end; it is not called again after that.
  explicit ValueStream(std::function<std::optional<Value>()> next) : next_(std::move(next)) {}

  /// The next Value; nothing at the end of the stream, and ever after.
  std::optional<Value> next() {
    if (!next_) return std::nullopt;
    std::optional<Value> value = next_();
    if (!value) next_ = nullptr;
    return value;
  }

  /// One pass over what is left of the stream.
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(ValueStream& stream) : stream_(&stream), value_(stream.next()) {}

    const Value& operator*() const { return *value_; }
    const Value* operator->() const { return &*value_; }
    Iterator& operator++() {
      value_ = stream_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t /*end*/) const { return !value_; }

   private:
    ValueStream* stream_;
    std::optional<Value> value_;
  };

  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::function<std::optional<Value>()> next_;
};

}  // namespace espalier::data
