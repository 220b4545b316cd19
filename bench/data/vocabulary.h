/// Vocabulary: gives every text that is met a number, in the order in which they are met.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace espalier::bench {

class Vocabulary {
 public:
  std::int32_t number(std::string_view text) {
    return numbers_.try_emplace(std::string(text), static_cast<std::int32_t>(numbers_.size())).first->second;
  }
  std::int32_t size() const { return static_cast<std::int32_t>(numbers_.size()); }

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace espalier::bench
