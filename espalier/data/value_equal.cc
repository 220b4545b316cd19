/// Whether two Values are equal, without recursion, and without comparing a pair of shared payloads twice: DAGs that
/// stand for exponentially large trees are compared in the time of their own size.
#include <algorithm>
#include <set>

#include "espalier/data/value_payload.h"

namespace espalier {

class Value::Comparison {
 public:
  bool equal(const Value& a, const Value& b) {
    if (!compare(a, b)) return false;
    while (!pairs_.empty()) {
      const auto [x, y] = pairs_.back();
      pairs_.pop_back();
      if (!(x->is_list() ? compare_lists(*x, *y) : compare_maps(*x, *y))) return false;
    }
    return true;
  }

 private:
  // False if they differ already; lists and maps are put aside to be compared later.
  bool compare(const Value& a, const Value& b) {
    if (a.kind_ != b.kind_) return false;
    switch (a.kind_) {
      case Kind::kNull: return true;
      case Kind::kBool: return a.content_.truth == b.content_.truth;
      case Kind::kInteger: return a.content_.integer == b.content_.integer;
      case Kind::kFloat: return a.content_.number == b.content_.number;
      case Kind::kString: return a.identity() == b.identity() || a.text().text == b.text().text;
      default: break;
    }
    if (a.identity() == b.identity()) return true;
    if (a.size() != b.size()) return false;
    // A pair that was met before is equal or makes the whole comparison false, whatever comes of this one. Where one
    // of the two has a single holder, it cannot be met more often than its own tree is large.
    const bool may_return = !a.has_one_holder() && !b.has_one_holder();
    if (may_return && !met_.emplace(a.identity(), b.identity()).second) return true;
    pairs_.emplace_back(&a, &b);
    return true;
  }

  bool compare_lists(const Value& a, const Value& b) {
    const std::span<const Value> items = a.items();
    const std::span<const Value> others = b.items();
    for (std::size_t i = 0; i < items.size(); ++i)
      if (!compare(items[i], others[i])) return false;
    return true;
  }

  bool compare_maps(const Value& a, const Value& b) {
    const std::span<const Entry> entries = a.entries();
    const std::span<const Entry> others = b.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      // Most often the order is the same, too.
      const Value* other = entries[i].key == others[i].key ? &others[i].value : b.find(entries[i].key);
      if (other == nullptr || !compare(entries[i].value, *other)) return false;
    }
    return true;
  }

  std::vector<std::pair<const Value*, const Value*>> pairs_;
  std::set<std::pair<const void*, const void*>> met_;
};

bool operator==(const Value& a, const Value& b) { return Value::Comparison().equal(a, b); }

}  // namespace espalier
