/// KeyView: a whole number or a text of the data, to be compared with Keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "espalier/blocks/input_blocks.h"
#include "espalier/blocks/input_type.h"

namespace espalier::blocks {

struct KeyView {
  bool is_text = false;
  std::int64_t number = 0;
  std::string_view text = {};  // NOLINT(readability-redundant-member-init): may be left out

  bool is(const Key& key) const {
    return key.is_text() == is_text && (is_text ? key.text() == text : key.number() == number);
  }
  std::string to_text() const { return is_text ? Key(text).to_text() : Key(number).to_text(); }
};

/// Refuses (DataError) what is neither.
inline KeyView read_key(const InputType& type, const void* object) {
  KeyView key;
  if (!is_null(type, object)) {
    if (type.integer != nullptr && type.integer(object, key.number)) return key;
    key.is_text = type.text != nullptr && type.text(object, key.text);
    if (key.is_text) return key;
  }
  refuse_data("expected a whole number or a string, but got " + describe(type, object), object);
}

}  // namespace espalier::blocks
