/// Draws ListOps expressions from the published grammar.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/data/listops.h"

namespace espalier::data {
namespace {

constexpr std::int64_t kFruitlessDraws = 5'000'000;
// Streams of the seed that nothing else uses: "listops", read as a number.
constexpr std::uint64_t kDrawStream = 0x6c6973746f707300;
constexpr std::uint64_t kOrderStream = kDrawStream + 1;

void check(const ListOpsOptions& options, std::int64_t count) {
  const auto require = [](bool holds, const char* name, const char* range, auto value) {
    if (!holds) throw UsageError(fmt::format("listops: {} must be {}, not {}", name, range, value));
  };
  require(count >= 0, "the number of expressions", "0 or more", count);
  require(options.max_tokens >= 1, "max_tokens", "1 or more", options.max_tokens);
  require(options.max_depth >= 1, "max_depth", "1 or more", options.max_depth);
  require(options.max_args >= 2, "max_args", "2 or more", options.max_args);
  require(options.operator_probability >= 0 && options.operator_probability <= 1, "operator_probability", "0 to 1",
          options.operator_probability);
}

class Sampler {
 public:
  explicit Sampler(const ListOpsOptions& options) : options_(options), random_(options.seed, kDrawStream) {}

  /// Draws one expression into tokens(). False: it would have been too long; it was left as soon as that was certain.
  bool draw() {
    tokens_.clear();
    missing_.clear();
    // The fewest tokens it can have: those there, a "]" for each open list, one for each missing argument.
    std::int64_t least = 1;
    for (;;) {
      const bool may_nest = static_cast<std::int64_t>(missing_.size()) + 1 < options_.max_depth;
      if (may_nest && random_.uniform() < options_.operator_probability) {
        const std::int64_t arguments = 2 + random_.below(options_.max_args - 1);
        tokens_.push_back(static_cast<char>(kListOpsMin + random_.below(4)));
        missing_.push_back(arguments);
        least += arguments + 1;
        if (least > options_.max_tokens) return false;
      } else {
        tokens_.push_back(static_cast<char>(random_.below(10)));
        while (!missing_.empty() && --missing_.back() == 0) {
          tokens_.push_back(static_cast<char>(kListOpsEnd));
          missing_.pop_back();
        }
        if (missing_.empty()) return true;
      }
    }
  }
  /// One token a char.
  const std::string& tokens() const { return tokens_; }

 private:
  ListOpsOptions options_;
  Random random_;
  std::string tokens_;
  std::vector<std::int64_t> missing_;  // arguments of each open list, the innermost last
};

}  // namespace

std::vector<Tree> generate_listops(const ListOpsOptions& options, std::int64_t count) {
  check(options, count);
  Sampler sampler(options);
  std::unordered_set<std::string> known;
  std::vector<const std::string*> drawn;  // in the order drawn, which unlike the set's is the same everywhere
  std::int64_t fruitless = 0;
  while (static_cast<std::int64_t>(drawn.size()) < count) {
    if (sampler.draw()) {
      const auto [place, is_new] = known.insert(sampler.tokens());
      if (is_new) {
        drawn.push_back(&*place);
        fruitless = 0;
        continue;
      }
    }
    if (++fruitless == kFruitlessDraws)
      throw UsageError(fmt::format(
          "listops: {} distinct expressions asked for, only {} found with max_tokens {}, max_depth {}, "
          "max_args {} and operator_probability {}",
          count, drawn.size(), options.max_tokens, options.max_depth, options.max_args, options.operator_probability));
  }
  // Common expressions are found first; shuffled, any part of the result looks like the whole.
  Random(options.seed, kOrderStream).shuffle(std::span(drawn));
  std::vector<Tree> trees;
  trees.reserve(drawn.size());
  std::vector<std::int32_t> tokens;
  for (const std::string* expression : drawn) {
    tokens.assign(expression->begin(), expression->end());
    trees.push_back(listops_tree(tokens));
  }
  return trees;
}

ListOpsSplit generate_listops_split(const ListOpsOptions& options, std::int64_t train_count,
                                    std::int64_t held_out_count) {
  check(options, train_count);
  check(options, held_out_count);
  ListOpsSplit split;
  split.train = generate_listops(options, train_count + held_out_count);
  const auto middle = split.train.begin() + train_count;
  split.held_out.assign(std::make_move_iterator(middle), std::make_move_iterator(split.train.end()));
  split.train.erase(middle, split.train.end());
  return split;
}

}  // namespace espalier::data
