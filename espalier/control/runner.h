/// Runner: the core of run_batched(), which knows instances and what they wait for, and nothing of coroutines.
///
/// An instance goes on until it waits for a value. When none can go on, the Runner computes all values that are waited
/// for, in one run per graph, and all go on, in the order in which they asked. Resumptions are called from a loop and
/// never from each other, so that no depth of tasks needs stack.
///
/// Programs use control/run_batched.h; other front ends, such as those of another language, derive from Program.
///
/// Thread safety: one thread at a time. Several Runners may run at once, with graphs of their own.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>

#include "espalier/base/export.h"
#include "espalier/control/errors.h"
#include "espalier/control/run_options.h"
#include "espalier/graph/expr.h"
#include "espalier/graph/graph.h"
#include "espalier/tensor/tensor.h"

namespace espalier::control {

class Runner;

/// Something that can go on. `go` must not throw.
struct Resumption {
  void (*go)(void* what) = nullptr;
  void* what = nullptr;
  explicit operator bool() const { return go != nullptr; }
};

/// One instance of a run, from its beginning to its end.
struct Instance {
  Runner* runner = nullptr;
  Graph* graph = nullptr;  // where it records; carry() may change it
  std::int64_t number = 0;
  std::uint64_t key = 0;
  void* owner = nullptr;     // for the Program
  std::exception_ptr ended;  // thrown wherever it waits: the run ends
  bool forgot_task = false;  // it made a task and never awaited it

 private:
  friend class Runner;
  Graph::InstancePlace place_;
  std::size_t segment_ = 0;
};

/// A value that an instance waits for. It stays where it is until `then` was resumed.
struct Ask {
  enum class Kind : std::int32_t {
    kValue,   // read it with value_of()
    kArgmax,  // `index` of the largest element, the first of equals
    kSample,  // `index` of an element, each with the probability that softmax gives it
    kCarry,   // the Exprs `carried`, which are values of another graph afterwards
  };
  Kind kind = Kind::kValue;
  Expr expr;
  Instance* instance = nullptr;
  Resumption then;
  std::span<Expr* const> carried;
  std::int64_t index = 0;
  std::exception_ptr error;
  Graph::RandomPlace place;
};

/// Where instances come from, and what becomes of them.
class ESPALIER_EXPORT Program {
 public:
  virtual ~Program();
  /// Takes the next instance, whose `number` and `owner` it sets, without recording anything. False: there is none now.
  virtual bool next(Instance& instance) = 0;
  /// Begins it: gives what is to be resumed first. May throw, which ends the instance.
  virtual Resumption begin(Instance& instance) = 0;
  /// It has ended. `error`, if it is not null, is what it threw, and wrapped by then in an InstanceError, or RunEnded.
  virtual void end(Instance& instance, std::exception_ptr error) = 0;
  /// Called when nothing is left to do: waits until next() may give another one. False: there will be none.
  virtual bool wait() { return false; }
};

class ESPALIER_EXPORT Runner {
 public:
  /// In a graph that is given, which is never cleared, or, if it is null, in graphs of its own.
  Runner(Program& program, Graph* graph, const RunOptions& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Runs all instances. Throws the InstanceError of one that failed (OnError::kEndRun), or RunEnded.
  void run();
  /// Ends all instances where they wait, and begins no more.
  void end_run(RunEnded::Why why);
  const RunStatistics& statistics() const;

  // --- for tasks, while they run -------------------------------------------------------------------------------------

  /// Goes on as soon as the caller returns, in the same instance; one at a time.
  void next(Resumption resumption);
  /// Goes on in its turn.
  void ready(Instance& instance, Resumption resumption);
  /// Asks for a value; true if it is there at once, and `then` is not resumed. Throws what is wrong with the Expr, and
  /// the reason if the run has ended.
  bool ask(Ask& ask);
  /// The instance has ended; `error` may be null.
  void end(Instance& instance, std::exception_ptr error);

  /// The instance that runs in this thread; null outside of all.
  static Instance* current();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Refuses (UsageError) numbers that make no sense.
ESPALIER_EXPORT void require_sane(const RunOptions& options);

/// The value of an Expr that was computed.
ESPALIER_EXPORT Tensor value_of(const Expr& expr);
/// The same of one with one element. Refuses (UsageError) any other.
ESPALIER_EXPORT double number_of(const Expr& expr);

}  // namespace espalier::control
