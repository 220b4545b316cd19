#include "espalier/base/threads.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "espalier/base/denormals.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr int kMostThreads = 1024;

std::atomic<int> chosen_count{0};  // 0: not asked for yet
thread_local bool inside_loop = false;

/// Marks the thread as working inside a loop; loops it meets there run in it.
class InsideLoop {
 public:
  InsideLoop() : before_(inside_loop) { inside_loop = true; }
  ~InsideLoop() { inside_loop = before_; }
  InsideLoop(const InsideLoop&) = delete;
  InsideLoop& operator=(const InsideLoop&) = delete;

 private:
  bool before_;
};

/// One loop: its parts, which of them were taken, and what the first part that threw has thrown.
class Loop {
 public:
  Loop(std::int64_t n, std::int64_t parts, detail::RangeFunction function)
      : length_(n / parts), longer_(n % parts), parts_(parts), function_(function) {}

  std::int64_t parts() const { return parts_; }

  /// Runs parts until none is left to take.
  void work() {
    const InsideLoop inside;
    const FlushDenormals flush(flush_denormals_);
    for (std::int64_t part = next_++; part < parts_; part = next_++) run(part);
  }

  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  /// The first `longer_` parts have one element more than the others.
  std::int64_t begin_of(std::int64_t part) const { return part * length_ + std::min(part, longer_); }

  void run(std::int64_t part) {
    try {
      function_.call(function_.object, begin_of(part), begin_of(part + 1));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (part < thrower_) {
        thrower_ = part;
        exception_ = std::current_exception();
      }
    }
  }

  std::int64_t length_;
  std::int64_t longer_;
  std::int64_t parts_;
  detail::RangeFunction function_;
  bool flush_denormals_ = FlushDenormals::active();
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  std::int64_t thrower_ = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr exception_;
};

/// What runs beside its caller, in another thread or in that of the caller in the end.
class Task {
 public:
  explicit Task(detail::TaskFunction function) : function_(function) {}

  void run() {
    const InsideLoop inside;
    const FlushDenormals flush(flush_denormals_);
    try {
      function_.call(function_.object);
    } catch (...) {
      exception_ = std::current_exception();
    }
    done_ = true;
  }
  bool is_done() const { return done_; }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  detail::TaskFunction function_;
  bool flush_denormals_ = FlushDenormals::active();
  std::exception_ptr exception_;
  std::atomic<bool> done_{false};
};

/// How long a thread looks for what it waits for before it sleeps. Waking one that sleeps takes as long as 50
/// microseconds; the steps of a small model take less.
constexpr std::chrono::microseconds kSpin{100};

/// Tells the processor that this thread only looks.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks until `ready()`, for kSpin at most; whether it became ready.
template <class Ready>
bool spin_until(const Ready& ready) {
  constexpr int kLooks = 64;  // between looks at the clock
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int look = 0; look < kLooks; ++look) {
      if (ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

/// Threads that sleep until somebody makes true what they wait for.
class Sleepers {
 public:
  /// Looks for a while, then sleeps, until `ready()`.
  template <class Ready>
  void wait_until(const Ready& ready) {
    if (spin_until(ready)) return;
    std::unique_lock lock(mutex_);
    ++count_;  // before the look at ready(): who makes it true looks at the count after
    woken_.wait(lock, ready);
    --count_;
  }
  /// Wakes so many of those that sleep. To be called after what they wait for was made true.
  void wake(std::int64_t most) {
    if (count_ == 0) return;
    { const std::lock_guard lock(mutex_); }  // none is between its last look and its sleep
    for (std::int64_t i = 0; i < most; ++i) woken_.notify_one();
  }
  void wake_all() {
    if (count_ == 0) return;
    { const std::lock_guard lock(mutex_); }
    woken_.notify_all();
  }

 private:
  std::atomic<std::int64_t> count_{0};
  std::mutex mutex_;
  std::condition_variable woken_;
};

/// The threads of the process. They start with the first loop that has parts for them, and end with the process.
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// False if another caller has the pool now; nothing was run then.
  bool try_run(Loop& loop) {
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    start(loop.parts() - 1);
    loop_ = &loop;
    state_ = (loop.parts() - 1) * kOpening;
    idle_.wake(loop.parts() - 1);
    loop.work();
    state_ &= kOpening - 1;  // every part is taken: workers that come only now are not waited for
    // The loop lives on this stack: no worker may still look at it.
    done_.wait_until([&] { return state_ == 0; });
    return true;
  }

  /// Offers a task to the workers, and gives whether it did: not where that of another caller is on offer. finish()
  /// must follow.
  bool offer(Task& task) {
    if (const std::unique_lock owner(owner_, std::try_to_lock); owner.owns_lock()) start(1);
    Task* none = nullptr;
    if (!task_.compare_exchange_strong(none, &task)) return false;
    idle_.wake(1);
    return true;
  }
  /// Returns when a task that was offered is done: runs it if no worker took it.
  void finish(Task& task) {
    Task* offered = &task;
    if (task_.compare_exchange_strong(offered, nullptr)) {
      task.run();
      return;
    }
    tasks_done_.wait_until([&] { return task.is_done(); });
  }

  /// Ends the workers; the next loop starts as many as it needs.
  void reset() {
    const std::lock_guard owner(owner_);
    stop();
  }

 private:
  Pool() = default;

  void start(std::int64_t workers) {
    while (static_cast<std::int64_t>(workers_.size()) < workers) {
      try {
        workers_.emplace_back([this] { serve(); });
      } catch (const std::system_error&) {
        return;  // the system gives no more threads: those there are take all the parts
      }
    }
  }

  void stop() {
    stopping_ = true;
    idle_.wake(std::ssize(workers_));
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stopping_ = false;
  }

  void serve() {
    while (true) {
      idle_.wait_until([&] { return stopping_ || state_ >= kOpening || task_ != nullptr; });
      if (stopping_) return;
      if (Task* const task = task_.exchange(nullptr)) {
        task->run();  // and is gone
        tasks_done_.wake_all();
        continue;
      }
      if (!enter()) continue;
      loop_.load()->work();
      if (--state_ == 0) done_.wake(1);
    }
  }

  /// Takes an opening of the loop, if there is one.
  bool enter() {
    std::int64_t state = state_;
    while (state >= kOpening)
      if (state_.compare_exchange_weak(state, state - kOpening + 1)) return true;
    return false;
  }

  std::mutex owner_;  // held by the caller whose loop runs
  std::vector<std::thread> workers_;

  /// How many workers the loop still takes, times kOpening, and how many hold a reference to it: one number, so that
  /// none enters a loop that was closed.
  static constexpr std::int64_t kOpening = std::int64_t{1} << 32;
  std::atomic<std::int64_t> state_{0};
  std::atomic<Loop*> loop_{nullptr};
  std::atomic<Task*> task_{nullptr};  // that no worker has taken yet
  std::atomic<bool> stopping_{false};
  Sleepers idle_;        // workers without a loop or task
  Sleepers done_;        // the caller whose parts are all taken
  Sleepers tasks_done_;  // callers whose task was taken
};

}  // namespace

int thread_count() {
  int count = chosen_count.load(std::memory_order_relaxed);
  if (count == 0) {
    const int initial = detail::thread_count_from_environment();
    // Another thread may have set a count meanwhile: that one stays.
    if (chosen_count.compare_exchange_strong(count, initial)) count = initial;
  }
  return count;
}

void set_thread_count(int count) {
  if (count < 1 || count > kMostThreads) {
    throw UsageError("the thread count must be from 1 to " + std::to_string(kMostThreads) + ", not " +
                     std::to_string(count));
  }
  if (inside_loop) throw UsageError("the thread count cannot be set from inside a parallel loop");
  chosen_count = count;
  Pool::instance().reset();
}

namespace detail {

int thread_count_from_environment() {
  if (const char* const text = std::getenv("ESPALIER_THREADS")) {
    const std::string_view view(text);
    int count = 0;
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), count);
    if (error != std::errc() || end != view.data() + view.size() || count < 1 || count > kMostThreads) {
      throw UsageError("ESPALIER_THREADS is \"" + std::string(view) + "\"; it must be a whole number from 1 to " +
                       std::to_string(kMostThreads));
    }
    return count;
  }
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
}

void run_parts(std::int64_t n, std::int64_t grain, RangeFunction function) {
  const std::int64_t parts = std::clamp<std::int64_t>(n / std::max<std::int64_t>(grain, 1), 1, thread_count());
  if (parts == 1) {
    function.call(function.object, 0, n);
    return;
  }
  Loop loop(n, parts, function);
  if (inside_loop || !Pool::instance().try_run(loop)) loop.work();
  loop.rethrow();
}

void run_beside(TaskFunction here, TaskFunction beside) {
  Task task(beside);
  const bool is_offered = has_other_threads() && Pool::instance().offer(task);
  std::exception_ptr thrown;
  try {
    here.call(here.object);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (is_offered)
    Pool::instance().finish(task);
  else
    task.run();
  if (thrown) std::rethrow_exception(thrown);
  task.rethrow();
}

}  // namespace detail

bool has_other_threads() { return !inside_loop && thread_count() > 1; }

OneThread::OneThread(bool wanted) : before_(inside_loop) { inside_loop = before_ || wanted; }
OneThread::~OneThread() { inside_loop = before_; }

}  // namespace espalier
