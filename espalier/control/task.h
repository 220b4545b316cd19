/// Task: a function of one instance that may ask for values in the middle, as a C++20 coroutine.
///
///   esp::Task<std::vector<int>> decode(const Net& net, esp::Graph& g, const Sentence& sentence) {
///     auto state = net.encode(g, sentence);
///     std::vector<int> words;
///     for (int word = kBegin; word != kEnd; words.push_back(word)) {
///       state = net.step(g, word, state);
///       word = co_await esp::argmax(net.scores(state.h));  // all instances that wait here run as one batch
///     }
///     co_return words;
///   }
///
/// In a task,
///   co_await expr              gives its value, a Tensor
///   co_await number(expr)      gives the number of an Expr with one element
///   co_await argmax(expr)      gives the index of the largest element, without copying the others
///   co_await sample(expr)      draws an index with the probabilities softmax(expr); the draw depends on the graph's
///                              seed and step, the key of the instance and the number of its random ops before alone
///   co_await task              runs another task and gives what it returns
///   co_await when_all(a, b)    runs several, which may wait at the same time; gives a tuple, or, of a vector of tasks,
///                              a vector. If some throw, all others still finish, and the first exception is rethrown
///   co_await carry(h, c)       goes on with these values alone, in a graph that is not as long: see carry()
///
/// run_batched() (control/run_batched.h) runs tasks. A task does nothing before it is awaited.
///
/// Parameters that are references must outlive the task, as in every coroutine: a task that is awaited where it is made
/// is safe. A lambda with captures that is a coroutine must have a name and outlive its task. g++ 12 destroys a
/// temporary lambda with captures, and an aggregate that is passed by value, once too often if it is made within a
/// co_await expression: name it before.
///
/// Thread safety: as the graph of its instance.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/control/runner.h"
#include "espalier/graph/expr.h"
#include "espalier/tensor/tensor.h"

namespace espalier {

template <class T>
class Task;

namespace control {

/// What void is stored as.
template <class T>
using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

inline void resume_coroutine(void* frame) { std::coroutine_handle<>::from_address(frame).resume(); }

/// What a frame has whatever it returns.
class PromiseBase {
 public:
  std::suspend_always initial_suspend() noexcept { return {}; }
  /// Whoever awaits it goes on from the Runner's loop, not from here: no stack is needed for depth.
  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> frame) noexcept {
      PromiseBase& promise = frame.promise();
      promise.instance->runner->next(promise.then);
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }

  Instance* instance = nullptr;  // null until it is awaited
  Resumption then;               // of whoever awaits it
  std::exception_ptr error;
};

/// Awaits a value. It has no destructor to speak of and captures nothing, so that it may be a temporary.
class AskAwaiter {
 public:
  AskAwaiter(Ask::Kind kind, const Expr& expr, Instance* instance) {
    ask_.kind = kind;
    ask_.expr = expr;
    ask_.instance = instance;
  }
  AskAwaiter(std::span<Expr* const> carried, Instance* instance) {
    ask_.kind = Ask::Kind::kCarry;
    ask_.carried = carried;
    ask_.instance = instance;
  }
  bool await_ready() { return ask_.instance->runner->ask(ask_); }
  void await_suspend(std::coroutine_handle<> frame) { ask_.then = {&resume_coroutine, frame.address()}; }

 protected:
  const Ask& answered() const {
    if (ask_.error != nullptr) std::rethrow_exception(ask_.error);
    return ask_;
  }

 private:
  Ask ask_;
};

struct AwaitValue : AskAwaiter {
  using AskAwaiter::AskAwaiter;
  Tensor await_resume() const { return value_of(answered().expr); }
};
struct AwaitNumber : AskAwaiter {
  using AskAwaiter::AskAwaiter;
  double await_resume() const { return number_of(answered().expr); }
};
struct AwaitIndex : AskAwaiter {
  using AskAwaiter::AskAwaiter;
  std::int64_t await_resume() const { return answered().index; }
};
struct AwaitCarry : AskAwaiter {
  using AskAwaiter::AskAwaiter;
  Graph& await_resume() const { return *answered().instance->graph; }
};

/// What number(), argmax() and sample() give.
struct NumberOf {
  Expr expr;
};
struct IndexOf {
  Ask::Kind kind;
  Expr expr;
};
template <std::size_t N>
struct CarryOf {
  std::array<Expr*, N> exprs;
};

template <class T>
class AwaitTask;
template <class T>
class AllOf;
template <class... T>
class EachOf;
template <class T>
class AwaitAll;
template <class... T>
class AwaitEach;

template <class T>
class Promise;

/// What may be awaited in a task.
class AwaitingPromise : public PromiseBase {
 public:
  AwaitValue await_transform(const Expr& expr) { return {Ask::Kind::kValue, expr, instance}; }
  AwaitNumber await_transform(const NumberOf& of) { return {Ask::Kind::kValue, of.expr, instance}; }
  AwaitIndex await_transform(const IndexOf& of) { return {of.kind, of.expr, instance}; }
  template <std::size_t N>
  AwaitCarry await_transform(const CarryOf<N>& of) {
    return {of.exprs, instance};
  }
  template <class T>
  AwaitTask<T> await_transform(Task<T>&& task) {
    return {task, instance};
  }
  template <class T>
  AwaitTask<T> await_transform(Task<T>& task) {
    return {task, instance};
  }
  template <class T>
  AwaitAll<T> await_transform(AllOf<T>&& all) {
    return {all.tasks(), instance};
  }
  template <class... T>
  AwaitEach<T...> await_transform(EachOf<T...>&& each) {
    return {each.tasks(), instance};
  }
};

template <class T>
class Promise : public AwaitingPromise {
 public:
  Task<T> get_return_object();
  template <class U>
  requires std::is_convertible_v<U&&, T>
  void return_value(U&& value) { value_.emplace(std::forward<U>(value)); }
  Stored<T> take() {
    if (error != nullptr) std::rethrow_exception(error);
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class Promise<void> : public AwaitingPromise {
 public:
  Task<void> get_return_object();
  void return_void() {}
  std::monostate take() const {
    if (error != nullptr) std::rethrow_exception(error);
    return {};
  }
};

}  // namespace control

/// Moves like a std::unique_ptr: it owns the frame of its coroutine.
template <class T = void>
class [[nodiscard("a task does nothing until it is awaited")]] Task {
 public:
  using promise_type = control::Promise<T>;
  using Result = T;

  explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  Task(Task && other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      drop();
      frame_ = std::exchange(other.frame_, nullptr);
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { drop(); }

  // --- for those who run tasks ---------------------------------------------------------------------------------------

  /// Begins: `then` is resumed at its end. Refuses (UsageError) a task that was moved or awaited before.
  control::Resumption start(control::Instance & instance, control::Resumption then) {
    if (!frame_ || frame_.promise().instance != nullptr)
      throw UsageError("task: it was awaited before, or moved away\n  hint: a task runs once; call its function again");
    frame_.promise().instance = &instance;
    frame_.promise().then = then;
    return {&control::resume_coroutine, frame_.address()};
  }
  /// What it returned; rethrows what it threw. Once, after its end.
  control::Stored<T> take() { return frame_.promise().take(); }

 private:
  void drop() {
    if (!frame_) return;
    if (frame_.promise().instance == nullptr && std::uncaught_exceptions() == 0)
      if (control::Instance* const current = control::Runner::current()) current->forgot_task = true;
    frame_.destroy();
  }

  std::coroutine_handle<promise_type> frame_;
};

namespace control {

template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

template <class T>
class AwaitTask {
 public:
  AwaitTask(Task<T>& task, Instance* instance) : task_(&task), instance_(instance) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) {
    instance_->runner->next(task_->start(*instance_, {&resume_coroutine, frame.address()}));
  }
  T await_resume() {
    if constexpr (std::is_void_v<T>)
      task_->take();
    else
      return task_->take();
  }

 private:
  Task<T>* task_;  // a temporary of the co_await expression, or a variable of the coroutine
  Instance* instance_;
};

/// Resumes a coroutine when so many tasks have ended.
class Join {
 public:
  explicit Join(Instance* instance) : instance_(instance) {}
  void open(std::size_t tasks, std::coroutine_handle<> frame) {
    left_ = tasks;
    then_ = {&resume_coroutine, frame.address()};
  }
  template <class T>
  void start(Task<T>& task) {
    instance_->runner->ready(*instance_, task.start(*instance_, {&Join::one_ended, this}));
  }

 private:
  static void one_ended(void* self) {
    Join& join = *static_cast<Join*>(self);
    if (--join.left_ == 0) join.instance_->runner->next(join.then_);
  }

  Instance* instance_;
  std::size_t left_ = 0;
  Resumption then_;
};

template <class T>
class AllOf {
 public:
  explicit AllOf(std::vector<Task<T>> tasks) : tasks_(std::move(tasks)) {}
  std::vector<Task<T>>& tasks() { return tasks_; }

 private:
  std::vector<Task<T>> tasks_;
};

template <class... T>
class EachOf {
 public:
  explicit EachOf(Task<T>&&... tasks) : tasks_(std::move(tasks)...) {}
  std::tuple<Task<T>...>& tasks() { return tasks_; }

 private:
  std::tuple<Task<T>...> tasks_;
};

template <class T>
class AwaitAll {
 public:
  AwaitAll(std::vector<Task<T>>& tasks, Instance* instance) : tasks_(&tasks), join_(instance) {}
  bool await_ready() const { return tasks_->empty(); }
  void await_suspend(std::coroutine_handle<> frame) {
    join_.open(tasks_->size(), frame);
    for (Task<T>& task : *tasks_) join_.start(task);
  }
  auto await_resume() {
    if constexpr (std::is_void_v<T>) {
      for (Task<T>& task : *tasks_) task.take();
    } else {
      std::vector<T> results;
      results.reserve(tasks_->size());
      for (Task<T>& task : *tasks_) results.push_back(task.take());
      return results;
    }
  }

 private:
  std::vector<Task<T>>* tasks_;
  Join join_;
};

template <class... T>
class AwaitEach {
 public:
  AwaitEach(std::tuple<Task<T>...>& tasks, Instance* instance) : tasks_(&tasks), join_(instance) {}
  bool await_ready() const { return sizeof...(T) == 0; }
  void await_suspend(std::coroutine_handle<> frame) {
    join_.open(sizeof...(T), frame);
    std::apply([&](auto&... task) { (join_.start(task), ...); }, *tasks_);
  }
  std::tuple<Stored<T>...> await_resume() {
    return std::apply([](auto&... task) { return std::tuple<Stored<T>...>{task.take()...}; }, *tasks_);
  }

 private:
  std::tuple<Task<T>...>* tasks_;
  Join join_;
};

}  // namespace control

/// The number of an Expr with one element.
inline control::NumberOf number(const Expr& expr) { return {expr}; }
/// The index of the largest element of an Expr, the first of equals. Refuses (UsageError) a node of many rows.
inline control::IndexOf argmax(const Expr& scores) { return {control::Ask::Kind::kArgmax, scores}; }
/// An index, drawn with the probabilities softmax(scores). Refuses (UsageError) a node of many rows.
inline control::IndexOf sample(const Expr& scores) { return {control::Ask::Kind::kSample, scores}; }

/// Several tasks of one instance at once.
template <class T>
control::AllOf<T> when_all(std::vector<Task<T>> tasks) {
  return control::AllOf<T>(std::move(tasks));
}
template <class... T>
control::EachOf<T...> when_all(Task<T>&&... tasks) {
  return control::EachOf<T...>(std::move(tasks)...);
}

/// For instances of any length outside of training: now and then, the Exprs given become leaves of a fresh graph, and
/// all others of the instance are stale. Gives the graph to go on with, which is the old one in most calls, and in a
/// graph that was given to run_batched() in all:
///
///   esp::Graph* g = &graph;
///   for (...) {
///     g = &co_await esp::carry(state.h, state.c);
///     ...
///   }
template <class... Exprs>
requires(std::is_same_v<Exprs, Expr>&&...) control::CarryOf<sizeof...(Exprs)> carry(Exprs&... exprs) {
  return {{&exprs...}};
}

}  // namespace espalier
