/// Splits loops over one pool of threads a process.
///
/// The parts of a loop depend only on its length, its grain and thread_count(): never on which thread was free. So the
/// same program with the same thread count computes the same bits.
///
/// Thread safety: everything here may be called from any thread at any time. When the pool is busy with the loop of
/// another caller, or the caller is itself a part of a loop, the same parts run one after another in the calling
/// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "espalier/base/export.h"

namespace espalier {

/// How many parts a loop has at most: ESPALIER_THREADS, or the number of hardware threads, until set_thread_count().
/// Refuses an ESPALIER_THREADS that is not a whole number from 1 to 1024.
ESPALIER_EXPORT int thread_count();

/// Waits for a loop that is running. Refuses counts outside 1 to 1024, and calls from inside a loop.
ESPALIER_EXPORT void set_thread_count(int count);

namespace detail {

/// What thread_count() is at first.
ESPALIER_EXPORT int thread_count_from_environment();

/// A borrowed callable: two words, nothing on the heap.
struct RangeFunction {
  void* object;
  void (*call)(void* object, std::int64_t begin, std::int64_t end);
};

ESPALIER_EXPORT void run_parts(std::int64_t n, std::int64_t grain, RangeFunction function);

/// The same of a callable without arguments.
struct TaskFunction {
  void* object;
  void (*call)(void* object);
};

ESPALIER_EXPORT void run_beside(TaskFunction here, TaskFunction beside);

}  // namespace detail

/// Calls fn(begin, end) for at most thread_count() contiguous parts of [0, n), each of at least `grain` (one part if n
/// is smaller than two grains), and returns when all are done. Every part runs even if another one throws; then the
/// exception of the first part, by position, that threw is rethrown here. Parts flush denormals if and only if the
/// caller does.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& fn) {
  if (n <= 0) return;
  if (n / 2 < grain) {
    fn(std::int64_t{0}, n);
    return;
  }
  using Function = std::remove_reference_t<F>;
  detail::run_parts(
      n, grain,
      {const_cast<void*>(static_cast<const void*>(std::addressof(fn))),
       [](void* object, std::int64_t begin, std::int64_t end) { (*static_cast<Function*>(object))(begin, end); }});
}

/// Calls here() in this thread and, meanwhile, beside() in one of the pool, or here afterwards if none came to take it;
/// returns when both are done. Loops of here() use the other threads, and that one too once it is done; those of
/// beside() run in its thread. Both run even if the other throws; then the exception of here() comes before that of
/// beside(). Where there are no other threads, here() runs first.
template <class Here, class Beside>
void run_beside(Here&& here, Beside&& beside) {
  const auto task_of = []<class F>(F& fn) -> detail::TaskFunction {
    return {const_cast<void*>(static_cast<const void*>(std::addressof(fn))),
            [](void* object) { (*static_cast<F*>(object))(); }};
  };
  detail::run_beside(task_of(here), task_of(beside));
}

/// Whether a loop of this thread has others to run in: not inside a loop, nor with one thread.
ESPALIER_EXPORT bool has_other_threads();

/// While it lives, loops of this thread run their parts one after another in it: for parts that write to the same
/// memory.
class ESPALIER_EXPORT OneThread {
 public:
  explicit OneThread(bool wanted = true);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  bool before_;
};

}  // namespace espalier
