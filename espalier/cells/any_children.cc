#include "espalier/cells/any_children.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "espalier/base/at.h"
#include "espalier/base/error.h"
#include "espalier/ops/add.h"

namespace espalier::cells {
namespace {

/// Children whose messages are summed one after the other; more are summed in several such parts.
constexpr std::size_t kChildrenInPart = 4;

/// The sum, part by part of a state, of `before` and of what `after` gives.
void add_states(std::span<const Expr> before, const ExprList& after, ExprList& sum) {
  if (before.size() != after.size())
    throw UsageError(fmt::format("a message has {} parts, and a state has {}", after.size(), before.size()));
  sum.clear();
  for (std::size_t p = 0; p < before.size(); ++p) sum.push_back(add(before[p], after[p]));
}

/// Of x, if rows read it, the sum so far, and one more child: the sum with the message of that child.
RecursionKind child_kind(const RecursionKind& kind) {
  RecursionKind child = kind;
  child.name = kind.name + ".child";
  child.children = 2;
  child.message = nullptr;
  child.function = [message = kind.message, takes_x = kind.takes_x](std::span<const Expr> in, ExprList& out) {
    const std::size_t x = takes_x ? 1 : 0;
    const std::size_t parts = (in.size() - x) / 2;
    std::vector<Expr> of_message(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(x));
    of_message.insert(of_message.end(), in.begin() + static_cast<std::ptrdiff_t>(x + parts), in.end());
    ExprList sent;
    message(of_message, sent);
    add_states(in.subspan(x, parts), sent, out);
  };
  return child;
}

RecursionKind sum_kind() {
  RecursionKind kind(
      "sum of messages", 2, [](std::span<const Expr> in) { return in[0]; }, TakesX::kNo);
  kind.function = [](std::span<const Expr> in, ExprList& out) {
    ExprList second;
    for (const Expr& part : in.subspan(in.size() / 2)) second.push_back(part);
    add_states(in.first(in.size() / 2), second, out);
  };
  return kind;
}

}  // namespace

AnyChildren::AnyChildren(const std::string& name, std::vector<RecursionKind>& kinds) : name_(name) {
  const std::size_t given = kinds.size();
  child_kinds_.resize(given);
  is_any_.assign(given, 0);
  for (std::size_t k = 0; k < given; ++k) {
    if (kinds[k].children != RecursionKind::kAnyChildren) continue;
    any_ = true;
    is_any_[k] = 1;
    child_kinds_[k] = KindId{static_cast<std::int32_t>(kinds.size())};
    kinds.push_back(child_kind(kinds[k]));
    kinds[k].children = 1;
  }
  if (!any_) return;
  sum_ = KindId{static_cast<std::int32_t>(kinds.size())};
  kinds.push_back(sum_kind());
}

/// Goes over the rows, children before parents, without recursion.
class AnyChildren::Rewriting {
 public:
  Rewriting(const AnyChildren& kinds, const Structure& given)
      : kinds_(kinds), given_(given), sums_(at(given.size()), Structure::kMissing) {
    fixed_.heights.assign(at(given.size()), kUnknown);
    next_child_.assign(at(given.size()), 0);
    for (std::int32_t r = 0; r < given.size(); ++r)
      if (height(r) == kUnknown) visit(r);
    for (std::int32_t r = 0; r < given.size(); ++r) {
      const bool is_any = kinds_.is_any_[at(static_cast<std::int32_t>(given.kind(r)))] != 0;
      fixed_.structure.add(given.kind(r), given.x(r), is_any ? std::span(&sums_[at(r)], 1) : given.children(r));
    }
    for (const Helper& row : helpers_) fixed_.structure.add(row.kind, row.x, {row.before, row.child});
  }
  FixedStructure take() { return std::move(fixed_); }

 private:
  static constexpr std::int32_t kUnknown = -1;
  static constexpr std::int32_t kUnderWay = -2;

  /// A row that adds to a sum.
  struct Helper {
    KindId kind;
    std::int32_t x;
    std::int32_t before;
    std::int32_t child;
  };

  [[noreturn]] void refuse(const std::string& sentence) const {
    throw UsageError(fmt::format("recursion \"{}\": {}", kinds_.name_, sentence));
  }
  std::int32_t& height(std::int32_t row) { return fixed_.heights[at(row)]; }
  std::int32_t height_of_child(std::int32_t row) { return row == Structure::kMissing ? -1 : height(row); }

  void open(std::int32_t row) {
    const auto kind = static_cast<std::int32_t>(given_.kind(row));
    if (kind < 0 || kind >= static_cast<std::int32_t>(kinds_.given_kinds()))
      refuse(fmt::format("row {} is of kind {}, and there are kinds 0 to {}", row, kind, kinds_.given_kinds() - 1));
    for (const std::int32_t child : given_.children(row))
      if (child != Structure::kMissing && (child < 0 || child >= given_.size()))
        refuse(fmt::format("row {} has row {} as a child, and there are rows 0 to {}", row, child, given_.size() - 1));
    height(row) = kUnderWay;
    open_.push_back(row);
  }

  void visit(std::int32_t first) {
    open(first);
    while (!open_.empty()) {
      const std::int32_t row = open_.back();
      const std::span<const std::int32_t> children = given_.children(row);
      std::size_t& next = next_child_[at(row)];
      if (next == children.size()) {
        open_.pop_back();
        close(row);
        continue;
      }
      const std::int32_t child = children[next++];
      if (child == Structure::kMissing) continue;
      if (height(child) == kUnderWay) refuse(fmt::format("row {} depends on itself, or on a row that does", child));
      if (height(child) == kUnknown) open(child);
    }
  }

  /// All its children are done.
  void close(std::int32_t row) {
    const std::span<const std::int32_t> children = given_.children(row);
    const auto kind = at(static_cast<std::int32_t>(given_.kind(row)));
    if (kinds_.is_any_[kind] != 0) {
      sums_[at(row)] = sum(kinds_.child_kinds_[kind], given_.x(row), children);
      height(row) = 1 + height_of_child(sums_[at(row)]);
      return;
    }
    std::int32_t most = -1;
    for (const std::int32_t child : children) most = std::max(most, height_of_child(child));
    height(row) = most + 1;
  }

  /// The row that has the sum of the messages of `children`, or kMissing if there are none.
  std::int32_t sum(KindId child_kind, std::int32_t x, std::span<const std::int32_t> children) {
    by_height_.clear();
    for (const std::int32_t child : children)
      if (child != Structure::kMissing) by_height_.push_back(child);
    std::stable_sort(by_height_.begin(), by_height_.end(),
                     [&](std::int32_t a, std::int32_t b) { return height(a) < height(b); });
    parts_.clear();
    for (std::size_t i = 0; i < by_height_.size(); ++i) {
      if (i % kChildrenInPart == 0) parts_.push_back(Structure::kMissing);
      parts_.back() = add({child_kind, x, parts_.back(), by_height_[i]});
    }
    while (parts_.size() > 1) {
      const std::size_t pairs = parts_.size() / 2;
      for (std::size_t i = 0; i < pairs; ++i)
        parts_[i] = add({kinds_.sum_, Structure::kNoX, parts_[2 * i], parts_[2 * i + 1]});
      if (parts_.size() % 2 != 0) parts_[pairs] = parts_.back();
      parts_.resize((parts_.size() + 1) / 2);
    }
    return parts_.empty() ? Structure::kMissing : parts_[0];
  }

  std::int32_t add(const Helper& row) {
    helpers_.push_back(row);
    fixed_.heights.push_back(1 + std::max(height_of_child(row.before), height_of_child(row.child)));
    return given_.size() + static_cast<std::int32_t>(helpers_.size()) - 1;
  }

  const AnyChildren& kinds_;
  const Structure& given_;
  FixedStructure fixed_;
  std::vector<std::int32_t> sums_;  // by row: that of its messages
  std::vector<Helper> helpers_;
  std::vector<std::size_t> next_child_;  // by row: how many are done, or under way
  std::vector<std::int32_t> open_;       // rows under way, each the child of the one before it
  std::vector<std::int32_t> by_height_;
  std::vector<std::int32_t> parts_;
};

FixedStructure AnyChildren::rewrite(const Structure& given) const { return Rewriting(*this, given).take(); }

}  // namespace espalier::cells
