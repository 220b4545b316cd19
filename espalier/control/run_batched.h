/// run_batched(): runs a task (control/task.h) for each of many instances, so that what they compute at the same time
/// runs as one batch.
///
///   std::vector<Parse> parses = esp::run_batched(sentences, [&](esp::Graph& g, const Sentence& s) {
///     return parser.parse(g, s);  // a Task<Parse>
///   });
///
/// Without a graph, the instances record in graphs of the run, which are cleared as instances finish: any number of
/// them runs in bounded memory. No Expr outlives its instance then. With a graph, everything is recorded there and
/// stays, for one backward() at the end:
///
///   esp::Graph g;
///   const std::vector<esp::Expr> losses = esp::run_batched(g, batch, loss_of);
///   esp::mean(losses).backward();
///
/// To divide a minibatch among threads, call it in each lane of train::Lanes, with the lane's graph.
///
/// Thread safety: one thread at a time per graph. With several lanes, `fn` is called from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/control/errors.h"
#include "espalier/control/run_options.h"
#include "espalier/control/runner.h"
#include "espalier/control/task.h"
#include "espalier/graph/graph.h"

namespace espalier {

/// What became of an instance: what its function returned, or why it ended.
template <class T>
class Outcome {
 public:
  Outcome() = default;
  explicit Outcome(control::Stored<T> value) : value_(std::move(value)) {}
  explicit Outcome(std::exception_ptr error) : error_(std::move(error)) {}

  bool ok() const { return value_.has_value(); }
  /// Rethrows the InstanceError, or RunEnded, of an instance that has no value.
  const control::Stored<T>& value() const& {
    require();
    return *value_;
  }
  control::Stored<T>&& value() && {
    require();
    return std::move(*value_);
  }
  /// Null if all went well.
  std::exception_ptr error() const { return error_; }

 private:
  void require() const {
    if (ok()) return;
    if (error_ != nullptr) std::rethrow_exception(error_);
    throw RunEnded(RunEnded::Why::kCancelled);  // never begun
  }

  std::optional<control::Stored<T>> value_;
  std::exception_ptr error_;
};

namespace control {

template <class Fn, class Item>
using TaskOfFunction = std::invoke_result_t<Fn&, Graph&, const Item&>;
template <class Fn, class Item>
using ResultOf = typename TaskOfFunction<Fn, Item>::Result;

/// A run over items of a type: next() gives a std::optional<Item>, fn a task, and done() takes what becomes of it.
template <class Item, class Next, class Fn, class Done>
class ProgramOf : public Program {
 public:
  using Result = ResultOf<Fn, Item>;

  ProgramOf(Next& next, Fn& fn, Done& done) : next_(next), fn_(fn), done_(done) {}

  bool next(Instance& instance) override {
    std::optional<std::pair<std::int64_t, Item>> item = next_();
    if (!item) return false;
    instance.number = item->first;
    instance.owner = nullptr;
    if (free_.empty()) free_.push_back(roots_.emplace_back(std::make_unique<Root>()).get());
    Root& root = *free_.back();
    free_.pop_back();
    root.item.emplace(std::move(item->second));
    instance.owner = &root;
    return true;
  }
  Resumption begin(Instance& instance) override {
    Root& root = *static_cast<Root*>(instance.owner);
    root.instance = &instance;
    root.task.emplace(fn_(*instance.graph, std::as_const(*root.item)));
    return root.task->start(instance, {&ended, &root});
  }
  void end(Instance& instance, std::exception_ptr error) override {
    Root& root = *static_cast<Root*>(instance.owner);
    if (error != nullptr)
      done_(instance.number, Outcome<Result>(std::move(error)));
    else
      done_(instance.number, Outcome<Result>(std::move(*root.value)));
    root.value.reset();
    root.task.reset();
    root.item.reset();
    free_.push_back(&root);
  }

 private:
  struct Root {
    std::optional<Item> item;
    std::optional<Task<Result>> task;
    std::optional<Stored<Result>> value;
    Instance* instance = nullptr;
  };

  static void ended(void* of) {
    Root& root = *static_cast<Root*>(of);
    std::exception_ptr error;
    try {
      root.value.emplace(root.task->take());
    } catch (...) {
      error = std::current_exception();
    }
    root.task.reset();
    root.instance->runner->end(*root.instance, std::move(error));
  }

  Next& next_;
  Fn& fn_;
  Done& done_;
  std::vector<std::unique_ptr<Root>> roots_;
  std::vector<Root*> free_;
};

/// Adds what one lane took to what others did.
inline void add_lane(RunStatistics& all, const RunStatistics& lane) {
  const std::int64_t peak = all.graphs.peak_bytes + lane.graphs.peak_bytes;
  const std::int64_t of_nodes = all.graphs.node_bytes + lane.graphs.node_bytes;
  all.graphs.add(lane.graphs);
  all.graphs.peak_bytes = peak;  // they run at once
  all.graphs.node_bytes = of_nodes;
  all.instances += lane.instances;
  all.most_in_flight += lane.most_in_flight;
  all.runs += lane.runs;
  all.values += lane.values;
  all.resumptions += lane.resumptions;
  all.graphs_used += lane.graphs_used;
  all.carried += lane.carried;
}

/// Runs one program; fills the statistics also if it throws.
template <class Item, class Next, class Fn, class Done>
void run_program(Graph* graph, Next& next, Fn& fn, Done& done, const RunOptions& options, RunStatistics& took) {
  ProgramOf<Item, Next, Fn, Done> program(next, fn, done);
  Runner runner(program, graph, options);
  try {
    runner.run();
  } catch (...) {
    took = runner.statistics();
    throw;
  }
  took = runner.statistics();
}

/// Calls run_lane(lane, statistics) for each lane, and adds their statistics up. Rethrows the exception of the first
/// lane that was not only ended by another.
template <class RunLane>
void run_lanes(const RunOptions& options, const RunLane& run_lane) {
  const auto lanes = static_cast<std::size_t>(options.lanes);
  std::vector<RunStatistics> took(lanes);
  std::vector<std::exception_ptr> errors(lanes);
  parallel_for(options.lanes, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto lane = static_cast<std::size_t>(begin); lane < static_cast<std::size_t>(end); ++lane) try {
        run_lane(lane, took[lane]);
      } catch (...) {
        errors[lane] = std::current_exception();
      }
  });
  if (options.statistics != nullptr) {
    *options.statistics = {};
    for (const RunStatistics& lane : took) add_lane(*options.statistics, lane);
  }
  for (const std::exception_ptr& error : errors)
    if (error != nullptr) std::rethrow_exception(error);
}

template <class Inputs>
using InputOf = std::remove_cvref_t<std::ranges::range_reference_t<const Inputs&>>;

/// What became of each of the inputs, in their order.
template <class Inputs, class Fn>
auto outcomes_of(Graph* graph, const Inputs& inputs, Fn& fn, const RunOptions& options,
                 std::vector<Outcome<ResultOf<Fn, InputOf<Inputs>>>>& outcomes) {
  using Result = ResultOf<Fn, InputOf<Inputs>>;
  using Item = std::reference_wrapper<const InputOf<Inputs>>;
  const auto count = static_cast<std::int64_t>(std::ranges::size(inputs));
  outcomes.resize(static_cast<std::size_t>(count));
  const auto on_item = [&](Graph& of, const Item& item) { return fn(of, item.get()); };
  run_lanes(options, [&](std::size_t lane, RunStatistics& took) {
    const auto number = static_cast<std::int64_t>(lane);
    std::int64_t at = count * number / options.lanes;
    const std::int64_t end = count * (number + 1) / options.lanes;
    const auto next = [&]() -> std::optional<std::pair<std::int64_t, Item>> {
      if (at == end) return std::nullopt;
      const std::int64_t i = at++;
      return std::pair<std::int64_t, Item>(i, std::cref(std::ranges::begin(inputs)[static_cast<std::ptrdiff_t>(i)]));
    };
    const auto done = [&](std::int64_t i, Outcome<Result> outcome) {
      outcomes[static_cast<std::size_t>(i)] = std::move(outcome);
    };
    run_program<Item>(graph, next, on_item, done, options, took);
  });
}

template <class T>
auto values_of(std::vector<Outcome<T>> outcomes) {
  if constexpr (!std::is_void_v<T>) {
    std::vector<T> values;
    values.reserve(outcomes.size());
    for (Outcome<T>& outcome : outcomes) values.push_back(std::move(outcome).value());
    return values;
  }
}

inline void require_one_lane(const RunOptions& options) {
  if (options.lanes != 1)
    throw UsageError("run_batched: a run in a graph that is given has one lane\n  hint: train::Lanes has a graph each");
}

template <class T>
inline constexpr bool is_expr_v = std::is_same_v<T, Expr>;

}  // namespace control

/// Runs fn(graph, input), which gives a Task<T>, for each input of a random-access range, and gives what they return,
/// in the order of the inputs; nothing for Task<>. Throws the InstanceError of an instance that failed, and RunEnded if
/// the run was cancelled or the deadline passed.
template <class Inputs, class Fn>
auto run_batched(const Inputs& inputs, Fn&& fn, const RunOptions& options = {}) {
  using T = control::ResultOf<Fn, control::InputOf<Inputs>>;
  static_assert(!control::is_expr_v<T>, "the run's own graphs are cleared: give a graph, or return values");
  std::vector<Outcome<T>> outcomes;
  control::outcomes_of(nullptr, inputs, fn, options, outcomes);
  return control::values_of(std::move(outcomes));
}

/// The same in a graph that is given, where everything stays.
template <class Inputs, class Fn>
auto run_batched(Graph& graph, const Inputs& inputs, Fn&& fn, const RunOptions& options = {}) {
  using T = control::ResultOf<Fn, control::InputOf<Inputs>>;
  control::require_one_lane(options);
  std::vector<Outcome<T>> outcomes;
  control::outcomes_of(&graph, inputs, fn, options, outcomes);
  return control::values_of(std::move(outcomes));
}

/// The same, and no instance ends the others: gives an Outcome for each. Cancelling and deadlines do not throw either.
template <class Inputs, class Fn>
auto try_run_batched(const Inputs& inputs, Fn&& fn, RunOptions options = {}) {
  using T = control::ResultOf<Fn, control::InputOf<Inputs>>;
  static_assert(!control::is_expr_v<T>, "the run's own graphs are cleared: return values");
  options.on_error = OnError::kEndInstance;
  std::vector<Outcome<T>> outcomes;
  try {
    control::outcomes_of(nullptr, inputs, fn, options, outcomes);
  } catch (const RunEnded&) {
    for (Outcome<T>& outcome : outcomes)
      if (!outcome.ok() && outcome.error() == nullptr) outcome = Outcome<T>(std::current_exception());
  }
  return outcomes;
}

/// A stream: next() gives std::optional<Input>, empty at its end, and done(number, Outcome<T>) takes what becomes of
/// each, as soon as it ends. With several lanes, both are called under a lock. An instance that fails ends the run only
/// if `options` say so.
template <class Next, class Fn, class Done>
void stream_batched(Next&& next, Fn&& fn, Done&& done, const RunOptions& options = {}) {
  using Given = typename std::invoke_result_t<Next&>::value_type;
  using T = control::ResultOf<Fn, Given>;
  static_assert(!control::is_expr_v<T>, "the run's own graphs are cleared: return values");
  std::mutex mutex;
  std::int64_t count = 0;
  bool ended = false;
  const auto next_item = [&]() -> std::optional<std::pair<std::int64_t, Given>> {
    const std::scoped_lock lock(mutex);
    if (ended) return std::nullopt;
    std::optional<Given> given = next();
    ended = !given;
    if (ended) return std::nullopt;
    return std::pair<std::int64_t, Given>(count++, std::move(*given));
  };
  const auto done_item = [&](std::int64_t number, Outcome<T> outcome) {
    const std::scoped_lock lock(mutex);
    if (outcome.error() != nullptr && options.on_error == OnError::kEndRun) ended = true;
    done(number, std::move(outcome));
  };
  control::run_lanes(options, [&](std::size_t, RunStatistics& took) {
    control::run_program<Given>(nullptr, next_item, fn, done_item, options, took);
  });
}

/// Runs one task alone, in a graph that is given.
template <class T>
T run_alone(Graph& graph, Task<T> task) {
  const auto give = [&](Graph&, int) { return std::move(task); };
  const std::vector<int> one(1);
  if constexpr (std::is_void_v<T>)
    run_batched(graph, one, give);
  else
    return std::move(run_batched(graph, one, give).front());
}

}  // namespace espalier
