#include "espalier/blocks/data_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace espalier::blocks {
namespace {

/// A step of a JSON pointer (RFC 6901).
std::string escaped(std::string_view step) {
  std::string text = "/";
  for (const char c : step) {
    if (c == '~')
      text += "~0";
    else if (c == '/')
      text += "~1";
    else
      text += c;
  }
  return text;
}

/// Of the steps to a place deep down, those in the middle are left out.
constexpr std::size_t kShownAtEachEnd = 10;

class PlaceSearch {
 public:
  PlaceSearch(const std::vector<const void*>& wanted, std::size_t read, std::span<const MemberPart> members)
      : read_(read), members_(members) {
    for (std::size_t i = 0; i < wanted.size(); ++i) rank_.try_emplace(wanted[i], i);
    rank_.erase(nullptr);
  }

  std::string run(const InputType& type, const void* data) {
    visit(type, data, 0, "");
    while (!open_.empty()) {
      const std::size_t at = open_.back();
      open_.pop_back();
      add_parts(at);
    }
    std::vector<std::size_t> steps;
    for (std::size_t at = best_; at != 0; at = found_[at].parent) steps.push_back(at);
    std::reverse(steps.begin(), steps.end());
    std::string place;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps.size() > 2 * kShownAtEachEnd && i == kShownAtEachEnd) {
        const std::size_t skipped = steps.size() - 2 * kShownAtEachEnd;
        place += fmt::format("/... {} more ...", skipped);
        i += skipped;
      }
      place += found_[steps[i]].step;
    }
    return place;
  }

 private:
  struct Found {
    const InputType* type;
    const void* object;
    std::size_t parent;
    std::string step;
  };
  struct Visited {
    const InputType* type;
    const void* object;
    bool operator==(const Visited&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Visited& visited) const {
      return std::hash<const void*>()(visited.object) * 31 + std::hash<const void*>()(visited.type);
    }
  };

  void visit(const InputType& type, const void* object, std::size_t parent, std::string step) {
    if (object == nullptr) return;
    const bool is_new = visited_.insert({&type, object}).second;
    const auto rank = rank_.find(object);
    // Equal strings may be one object. That in an object which was read is meant.
    const bool is_nearer =
        !is_new && rank != rank_.end() && rank->second == best_rank_ && rank_of(parent) < rank_of(found_[best_].parent);
    if (!is_new && !is_nearer) return;
    const std::size_t at = found_.size();
    found_.push_back({&type, object, parent, std::move(step)});
    if (is_nearer) best_ = at;
    if (!is_new) return;
    open_.push_back(at);
    // A struct and its first member have one address. The member is found later.
    if (rank == rank_.end()) return;
    const bool member_was_read = rank->second < read_;
    if (rank->second < best_rank_ || (rank->second == best_rank_ && member_was_read)) {
      best_rank_ = rank->second;
      best_ = at;
    }
  }

  std::size_t rank_of(std::size_t found) const {
    const auto rank = rank_.find(found_[found].object);
    return rank == rank_.end() ? std::numeric_limits<std::size_t>::max() : rank->second;
  }

  void add_parts(std::size_t at) {
    const InputType& type = *found_[at].type;
    const void* const object = found_[at].object;
    if (type.parts != nullptr)
      return type.parts(object, keep_,
                        [&](std::string_view step, const void* part) { visit(type, part, at, escaped(step)); });
    for (const InputField& field : type.fields) visit(field.type(), field.get(object, keep_), at, escaped(field.name));
    for (const MemberPart& member : members_)
      if (member.whole == &type && type.fields.empty())
        visit(*member.part, member.read(member.object, object), at, escaped(member.name));
    if (type.elements == nullptr) return;
    const std::int64_t size = type.size(object);
    Slot* const slots = keep_.slots(size);
    type.elements(object, slots, keep_);
    for (std::int64_t i = 0; i < size; ++i) visit(type.element(), slots[i].input, at, escaped(std::to_string(i)));
  }

  std::size_t read_;
  std::span<const MemberPart> members_;
  std::unordered_map<const void*, std::size_t> rank_;  // of the addresses that are wanted: the lowest wins
  std::vector<Found> found_;
  std::vector<std::size_t> open_;
  std::unordered_set<Visited, Hash> visited_;
  std::size_t best_ = 0;
  std::size_t best_rank_ = std::numeric_limits<std::size_t>::max();
  Keep keep_;
};

}  // namespace

std::string place_in_data(const InputType& type, const void* data, const std::vector<const void*>& wanted,
                          std::size_t read, std::span<const MemberPart> members) {
  return PlaceSearch(wanted, read, members).run(type, data);
}

}  // namespace espalier::blocks
