// espalier.run_batched: generators and coroutines of Python as instances that ask for values midway.
#include <nanobind/stl/string.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/control/runner.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using control::Ask;

// What a generator yields besides an Expr: the place of an element of it.
struct Choice {
  NodeRef of;
  Ask::Kind kind = Ask::Kind::kArgmax;
};

class PythonRun;

// One instance: a generator, and the value that it waits for.
struct Running {
  PythonRun* run = nullptr;
  control::Instance* instance = nullptr;
  nb::object generator;
  Ask ask;
  bool begun = false;  // waits for an answer, from the second resumption on
};

// Called by the library without the lock of the interpreter; takes it whenever Python has its turn.
class PythonRun : public control::Program {
 public:
  PythonRun(nb::object function, const nb::object& inputs, nb::object graph)
      : function_(std::move(function)), graph_(std::move(graph)), inputs_(inputs) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) results_.append(nb::none());
  }

  const nb::list& results() const { return results_; }
  // Of the instance that failed first; null if none did.
  std::exception_ptr cause() const { return cause_; }

  bool next(control::Instance& instance) override {
    if (next_ == inputs_.size()) return false;
    instance.number = static_cast<std::int64_t>(next_++);
    instance.owner = nullptr;
    return true;
  }

  control::Resumption begin(control::Instance& instance) override {
    const nb::gil_scoped_acquire acquired;
    const Turn turn(*this, instance);
    const nb::object made = function_(inputs_[static_cast<std::size_t>(instance.number)]);
    auto running = std::make_unique<Running>();
    running->run = this;
    running->instance = &instance;
    if (nb::hasattr(made, "send"))
      running->generator = made;
    else
      results_[static_cast<std::size_t>(instance.number)] = made;  // it asks for no value
    instance.owner = running.release();
    return {&go, instance.owner};
  }

  void end(control::Instance& instance, std::exception_ptr error) override {
    const nb::gil_scoped_acquire acquired;
    const std::unique_ptr<Running> running(static_cast<Running*>(instance.owner));
    if (error != nullptr && cause_ == nullptr) remember(error, instance.number);
    if (running == nullptr || !running->generator.is_valid()) return;
    const Turn turn(*this, instance);
    try {
      running->generator.attr("close")();
    } catch (nb::python_error& ignored) {  // the run ends with the error that was first
      ignored.discard_as_unraisable("closing an instance of espalier.run_batched");
    }
  }

 private:
  // While Python records in an instance: its graph is the current one, and other threads' graph no more.
  class Turn {
   public:
    Turn(PythonRun& run, control::Instance& instance) : graph_(run.graph_) {
      if (graph_.is_valid()) nb::inst_ptr<GraphObject>(graph_)->busy = false;
      graph_stack().push_back({instance.graph, graph_});
    }
    ~Turn() {
      graph_stack().pop_back();
      if (graph_.is_valid()) nb::inst_ptr<GraphObject>(graph_)->busy = true;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const nb::object& graph_;
  };

  void remember(const std::exception_ptr& error, std::int64_t number) {
    try {
      std::rethrow_exception(error);
    } catch (const InstanceError& failed) {
      cause_ = failed.cause();
      number_ = number;
    } catch (...) {  // of the run, which throws it itself
    }
  }

  static void go(void* of) {
    Running& running = *static_cast<Running*>(of);
    std::exception_ptr error;
    {
      const nb::gil_scoped_acquire acquired;
      const Turn turn(*running.run, *running.instance);
      try {
        if (!running.run->resume(running)) return;
      } catch (...) {
        error = std::current_exception();
      }
    }
    running.instance->runner->end(*running.instance, std::move(error));
  }

  // True when the instance has ended, false where it waits.
  bool resume(Running& running) {
    if (!running.generator.is_valid()) return true;
    for (;;) {
      if (running.begun && running.ask.error != nullptr) std::rethrow_exception(running.ask.error);
      const nb::object value = running.begun ? answer(running.ask) : nb::none();
      running.begun = true;
      PyObject* got = nullptr;
      const PySendResult sent = PyIter_Send(running.generator.ptr(), value.ptr(), &got);
      if (sent == PYGEN_ERROR) {
        running.generator.reset();
        nb::raise_python_error();
      }
      const nb::object yielded = nb::steal(got);
      if (sent == PYGEN_RETURN) {
        running.generator.reset();
        results_[static_cast<std::size_t>(running.instance->number)] = yielded;
        return true;
      }
      running.ask = question(yielded);
      running.ask.instance = running.instance;
      running.ask.then = {&go, &running};
      if (!running.instance->runner->ask(running.ask)) return false;
    }
  }

  static Ask question(nb::handle yielded) {
    Ask ask;
    if (nb::isinstance<Choice>(yielded)) {
      const Choice& choice = nb::cast<const Choice&>(yielded);
      ask.kind = choice.kind;
      ask.expr = choice.of.expr;
    } else if (is_expr(yielded)) {
      ask.expr = node_of(yielded).expr;
    } else {
      throw UsageError("run_batched: an instance may yield an Expr, argmax(x) or sample(x)");
    }
    return ask;
  }

  static nb::object answer(const Ask& ask) {
    if (ask.kind != Ask::Kind::kValue) return nb::cast(ask.index);
    Tensor value = control::value_of(ask.expr);
    if (value.elements() == 1 && value.shape().rank() == 0) return nb::cast(value.item());
    return array_of(std::move(value));
  }

  nb::object function_;
  nb::object graph_;
  nb::list inputs_;
  nb::list results_;
  std::size_t next_ = 0;
  std::exception_ptr cause_;
  std::int64_t number_ = 0;
};

nb::list run_batched(const nb::object& function, const nb::object& inputs, const nb::object& graph,
                     std::int64_t in_flight) {
  const bool given = !graph.is_none();
  if (given && !is_graph(graph)) throw UsageError("run_batched: `graph` must be a Graph");
  PythonRun run(function, nb::list(nb::iter(inputs)), given ? graph : nb::object());
  RunOptions options;
  options.in_flight = in_flight;
  std::exception_ptr error;
  const auto all = [&] {
    control::Runner runner(run, given ? nb::inst_ptr<GraphObject>(graph) : nullptr, options);
    try {
      runner.run();
    } catch (...) {
      error = std::current_exception();
    }
  };
  if (given) {
    run_graph(graph, all);
  } else {
    const nb::gil_scoped_release released;
    all();
  }
  if (run.cause() != nullptr) std::rethrow_exception(run.cause());
  if (error != nullptr) std::rethrow_exception(error);
  return run.results();
}

}  // namespace

void bind_control(nb::module_& module) {
  nb::class_<Choice>(module, "Choice",
                     "What an instance yields to get the place of an element; see argmax and sample.");
  module.def(
      "argmax",
      [](const NodeRef& x) {
        return Choice{x, Ask::Kind::kArgmax};
      },
      "x"_a, "For an instance of run_batched to yield: the place of the largest element of x, the first of equals.");
  module.def(
      "sample",
      [](const NodeRef& x) {
        return Choice{x, Ask::Kind::kSample};
      },
      "x"_a,
      "For an instance of run_batched to yield: the place of an element, each with the probability that\n"
      "softmax(x) gives it.");
  module.def(
      "run_batched", &run_batched, "function"_a, "inputs"_a, nb::kw_only(), "graph"_a.none() = nb::none(),
      "in_flight"_a = 256,
      nb::sig("def run_batched(function: collections.abc.Callable[[typing.Any], typing.Any], inputs: "
              "collections.abc.Iterable[typing.Any], *, graph: Graph | None = None, in_flight: int = 256) -> "
              "list[typing.Any]"),
      R"(Runs a generator function for each of the inputs, so that what they compute at the same time is one batch.

``value = yield x`` gives the value of an Expr: a float, or an array unless x has rank 0. In an ``async def`` function,
``await x`` does the same. ``yield argmax(x)`` and ``yield sample(x)`` give a place in x. What the function returns is
the result; a function that is no generator is called once for each input.

graph: where everything is recorded and stays, for a backward() at the end; by default the run has graphs of its own,
    which are not for training and are cleared as instances finish: no Expr outlives its instance then
in_flight: the most instances that are begun and not finished

>>> import espalier as esp
>>> def halvings(start):
...     x, steps = esp.input([start]), 0
...     while (yield esp.sum(x)) > 1:
...         x, steps = x * 0.5, steps + 1
...     return steps
>>> esp.run_batched(halvings, [1.0, 8.0, 100.0])
[0, 3, 7]
)");
}

}  // namespace espalier::python
