#include "espalier/control/runner.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/control/answers.h"
#include "espalier/control/segments.h"
#include "espalier/exec/executor.h"

namespace espalier::control {
namespace {

Instance*& current_instance() {
  thread_local Instance* current = nullptr;
  return current;
}

RunOptions checked(const RunOptions& options) {
  require_sane(options);
  return options;
}

}  // namespace

void require_sane(const RunOptions& options) {
  if (options.in_flight < 1) throw UsageError("run_batched: in_flight must be 1 or more");
  if (options.lanes < 1) throw UsageError("run_batched: lanes must be 1 or more");
  if (options.graph_instances < 0 || options.run_when.values < 0 || options.run_when.resumptions < 1)
    throw UsageError("run_batched: graph_instances and run_when.values must be 0 or more, run_when.resumptions 1");
}

Program::~Program() = default;

struct Runner::State {
  /// A resumption and whose it is.
  struct Turn {
    Instance* instance;
    Resumption what;
  };

  State(Program& of, Graph* graph, const RunOptions& given, Runner& self)
      : program(of),
        options(checked(given)),
        segments(graph, graph != nullptr ? options.graph : options.graph.for_one_step(),
                 options.graph_instances > 0 ? options.graph_instances : 2 * options.in_flight),
        runner(self) {}

  // --- the loop ------------------------------------------------------------------------------------------------------

  void run() {
    do admit();
    while (run_admitted());
  }

  /// Until nobody is left; then whether more came.
  bool run_admitted() {
    for (;;) {
      while (!turns.empty() && !must_compute()) take_turn();
      if (waiting.empty()) {
        if (live > 0) throw InternalError("run_batched: an instance waits for nothing that is known");
        return why == Going::kOn && program.wait();
      }
      look_at_the_clock();
      if (!waiting.empty()) compute();
      admit();
    }
  }

  bool must_compute() const {
    if (waiting.empty()) return false;
    const auto values = static_cast<std::int64_t>(waiting.size());
    return (options.run_when.values > 0 && values >= options.run_when.values) ||
           statistics.resumptions - resumptions_at_first >= options.run_when.resumptions;
  }

  void take_turn() {
    const Turn turn = turns.front();
    turns.pop_front();
    Instance& instance = *turn.instance;
    Instance* const outer = std::exchange(current_instance(), &instance);
    instance.graph->go_on_at(instance.place_);
    following = turn.what;
    is_ended = false;
    const std::int64_t last = statistics.resumptions + options.run_when.resumptions;
    while (following) {
      const Resumption what = std::exchange(following, {});
      ++statistics.resumptions;
      what.go(what.what);
      if (is_ended) break;
      const bool is_long = statistics.resumptions >= last && !turns.empty();
      if (following && (is_long || must_compute())) turns.push_back({&instance, std::exchange(following, {})});
    }
    current_instance() = outer;
    if (is_ended)
      admit();
    else
      instance.place_ = instance.graph->instance_place();
  }

  // --- instances -----------------------------------------------------------------------------------------------------

  void admit() {
    while (why == Going::kOn && live < options.in_flight) {
      if (free.empty()) free.push_back(instances.emplace_back(std::make_unique<Instance>()).get());
      Instance& instance = *free.back();
      instance = {};
      if (!program.next(instance)) return;
      free.pop_back();
      instance.runner = &runner;
      instance.key = key_of(instance.number);
      ++live;
      ++statistics.instances;
      statistics.most_in_flight = std::max(statistics.most_in_flight, live);
      enter(instance);
      instance.graph->begin_instance(instance.key);
      begin(instance);
    }
  }

  std::uint64_t key_of(std::int64_t number) const {
    const auto i = static_cast<std::size_t>(number);
    return i < options.keys.size() ? options.keys[i] : options.first_key + i;
  }

  void enter(Instance& instance) {
    instance.segment_ = segments.enter();
    instance.graph = &segments.graph(instance.segment_);
    statistics.graphs_used = std::max(statistics.graphs_used, static_cast<std::int64_t>(segments.count()));
  }

  void begin(Instance& instance) {
    Instance* const outer = std::exchange(current_instance(), &instance);
    try {
      const Resumption first = program.begin(instance);
      instance.place_ = instance.graph->instance_place();
      turns.push_back({&instance, first});
    } catch (...) {
      end(instance, std::current_exception());
    }
    current_instance() = outer;
  }

  void end(Instance& instance, std::exception_ptr error) {
    is_ended = true;
    if (error == nullptr && instance.forgot_task)
      error = std::make_exception_ptr(
          UsageError("task: one was made and never awaited, so it never ran\n  hint: co_await task, or when_all"));
    if (error != nullptr && instance.ended == nullptr) {
      error = std::make_exception_ptr(InstanceError(instance.number, error));
      if (options.on_error == OnError::kEndRun && why == Going::kOn) {
        failure = error;
        end_run(RunEnded::Why::kInstanceFailed);
      }
    }
    program.end(instance, error);
    segments.leave(instance.segment_);
    --live;
    free.push_back(&instance);
  }

  // --- values --------------------------------------------------------------------------------------------------------

  bool ask(Ask& ask) {
    Instance& instance = *ask.instance;
    if (instance.ended != nullptr) std::rethrow_exception(instance.ended);
    require_answerable(ask);
    if (ask.kind == Ask::Kind::kSample) ask.place = instance.graph->next_random_place();
    if (ask.kind == Ask::Kind::kCarry && !segments.moves(instance.segment_, most_nodes())) return true;
    if (ask.kind != Ask::Kind::kCarry && exec::Executor::of(*instance.graph).has_value(ask.expr.node())) {
      answer(ask);
      return true;
    }
    if (waiting.empty()) resumptions_at_first = statistics.resumptions;
    waiting.push_back(&ask);
    ++statistics.values;
    return false;
  }

  /// A graph has so many nodes before those who carry their values leave it.
  std::int32_t most_nodes() const {
    constexpr std::int64_t kNodes = 1 << 14;
    constexpr std::int64_t kNodesOfInstance = 256;
    return static_cast<std::int32_t>(std::min<std::int64_t>(std::max(kNodes, kNodesOfInstance * live), 1 << 24));
  }

  void compute() {
    asked.swap(waiting);
    waiting.clear();
    ++statistics.runs;
    // Graph by graph, each with all that is asked of it.
    const auto is_before = [](const Ask* a, const Ask* b) { return a->instance->segment_ < b->instance->segment_; };
    if (!std::is_sorted(asked.begin(), asked.end(), is_before)) std::stable_sort(asked.begin(), asked.end(), is_before);
    for (std::size_t begin = 0; begin < asked.size();) {
      std::size_t end = begin;
      while (end < asked.size() && asked[end]->instance->segment_ == asked[begin]->instance->segment_) ++end;
      compute(std::span<Ask* const>(asked).subspan(begin, end - begin));
      begin = end;
    }
    for (Ask* ask : asked) {
      if (ask->kind == Ask::Kind::kCarry && ask->error == nullptr) carry(*ask);
      turns.push_back({ask->instance, ask->then});
    }
    asked.clear();
  }

  void compute(std::span<Ask* const> of_graph) {
    Graph& graph = *of_graph.front()->instance->graph;
    nodes.clear();
    for (const Ask* ask : of_graph) {
      if (ask->kind != Ask::Kind::kCarry) nodes.push_back(ask->expr.node());
      for (const Expr* expr : ask->carried) nodes.push_back(expr->node());
    }
    try {
      exec::Executor& executor = exec::Executor::of(graph);
      graph.stop_recording();
      executor.compute(nodes);
      for (Ask* ask : of_graph) answer(*ask);
    } catch (...) {
      for (Ask* ask : of_graph) ask->error = std::current_exception();
    }
  }

  static void answer(Ask& ask) {
    if (ask.kind == Ask::Kind::kArgmax || ask.kind == Ask::Kind::kSample) ask.index = choose(ask);
  }

  /// Moves an instance to another graph, with these values alone.
  void carry(const Ask& ask) {
    Instance& instance = *ask.instance;
    ++statistics.carried;
    segments.retire(instance.segment_);
    const std::size_t before = instance.segment_;
    enter(instance);
    instance.graph->begin_instance(instance.key);
    Graph::InstancePlace place = instance.graph->instance_place();
    place.random_ops = instance.place_.random_ops;
    instance.place_ = place;
    for (Expr* expr : ask.carried) *expr = copy_to(*instance.graph, *expr);
    segments.leave(before);
  }

  // --- the end -------------------------------------------------------------------------------------------------------

  void look_at_the_clock() {
    if (why != Going::kOn) return;
    if (options.stop.stop_requested()) end_run(RunEnded::Why::kCancelled);
    if (!options.deadline) return;
    const auto now = options.clock ? options.clock() : std::chrono::steady_clock::now();
    if (now >= *options.deadline) end_run(RunEnded::Why::kDeadline);
  }

  void end_run(RunEnded::Why reason) {
    if (why != Going::kOn) return;
    why = Going::kEnding;
    const std::exception_ptr ended = std::make_exception_ptr(RunEnded(reason));
    if (failure == nullptr) failure = ended;
    for (const std::unique_ptr<Instance>& instance : instances) instance->ended = ended;
    for (Ask* ask : std::exchange(waiting, {})) {
      ask->error = ended;
      turns.push_back({ask->instance, ask->then});
    }
  }

  enum class Going : std::int32_t { kOn, kEnding };

  Program& program;
  RunOptions options;
  Segments segments;
  Runner& runner;
  RunStatistics statistics;
  std::vector<std::unique_ptr<Instance>> instances;
  std::vector<Instance*> free;
  std::int64_t live = 0;
  std::deque<Turn> turns;
  Resumption following;   // in the turn under way
  bool is_ended = false;  // its instance
  std::vector<Ask*> waiting;
  std::vector<Ask*> asked;  // that are being computed
  std::vector<NodeId> nodes;
  std::int64_t resumptions_at_first = 0;  // of those that wait
  Going why = Going::kOn;
  std::exception_ptr failure;
};

Runner::Runner(Program& program, Graph* graph, const RunOptions& options)
    : state_(std::make_unique<State>(program, graph, options, *this)) {}
Runner::~Runner() = default;

void Runner::run() {
  Graph& first = state_->segments.graph(0);
  const Graph::InstancePlace before = first.instance_place();
  state_->look_at_the_clock();
  state_->run();
  state_->statistics.graphs = state_->segments.statistics();
  first.go_on_at(before);
  if (state_->failure != nullptr) std::rethrow_exception(state_->failure);
}

void Runner::end_run(RunEnded::Why why) { state_->end_run(why); }
const RunStatistics& Runner::statistics() const { return state_->statistics; }
void Runner::next(Resumption resumption) { state_->following = resumption; }
void Runner::ready(Instance& instance, Resumption resumption) { state_->turns.push_back({&instance, resumption}); }
bool Runner::ask(Ask& ask) { return state_->ask(ask); }
void Runner::end(Instance& instance, std::exception_ptr error) { state_->end(instance, std::move(error)); }
Instance* Runner::current() { return current_instance(); }

}  // namespace espalier::control
