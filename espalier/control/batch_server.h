/// BatchServer: instances that several threads submit, run as one batch.
///
///   esp::BatchServer<Sentence, Parse> server([&](esp::Graph& g, const Sentence& s) { return parser.parse(g, s); },
///                                            {.longest_wait = std::chrono::milliseconds(2)});
///   std::future<Parse> parse = server.submit(sentence);  // in any thread
///
/// A thread of the server runs them. An instance that comes while others run joins them at their next step, so that it
/// waits for no other to finish. If nothing runs, the first to come waits for company until `in_flight` instances are
/// there, and no longer than `longest_wait`.
///
/// Thread safety: submit() from any thread at any time; the function is called in the server's thread only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/control/run_batched.h"

namespace espalier {

struct ServerOptions {
  /// How the instances run. `lanes`, `keys`, `stop`, `deadline` and `on_error` are the server's own; `statistics` is
  /// filled when it closes.
  RunOptions run = {};
  std::chrono::nanoseconds longest_wait = std::chrono::milliseconds(1);
};

/// T is what the function's task returns, and not void.
template <class Given, class T>
class BatchServer {
 public:
  using Function = std::function<Task<T>(Graph&, const Given&)>;
  static_assert(!std::is_void_v<T> && !std::is_same_v<T, Expr>, "a server answers with values");

  explicit BatchServer(Function function, ServerOptions options = {})
      : function_(std::move(function)), options_(std::move(options)) {
    control::require_sane(options_.run);
    options_.run.lanes = 1;
    options_.run.keys = {};
    options_.run.stop = stop_.get_token();
    options_.run.deadline = {};
    options_.run.on_error = OnError::kEndInstance;
    thread_ = std::thread([this] { run(); });
  }
  /// As close().
  ~BatchServer() { close(); }
  BatchServer(const BatchServer&) = delete;
  BatchServer& operator=(const BatchServer&) = delete;

  /// The result, or the InstanceError of an instance that failed. Refuses (UsageError) a server that was closed.
  std::future<T> submit(Given given) {
    Submitted submitted{std::move(given), {}, std::chrono::steady_clock::now()};
    std::future<T> result = submitted.result.get_future();
    {
      const std::scoped_lock lock(mutex_);
      if (closed_) throw UsageError("server: an instance is submitted after the server was closed");
      queue_.push_back(std::move(submitted));
    }
    changed_.notify_one();
    return result;
  }
  /// Finishes what was submitted, and takes nothing more.
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  /// Ends what was submitted: it gets RunEnded. Takes nothing more.
  void cancel() {
    stop_.request_stop();
    close();
  }

 private:
  struct Submitted {
    Given given;
    std::promise<T> result;
    std::chrono::steady_clock::time_point when;
  };
  using Item = std::shared_ptr<Submitted>;

  /// What next() of a run would give, and wait() what it waits for.
  class Queue : public control::Program {
   public:
    Queue(BatchServer& server, control::Program& program) : server_(server), program_(program) {}
    bool next(control::Instance& instance) override { return program_.next(instance); }
    control::Resumption begin(control::Instance& instance) override { return program_.begin(instance); }
    void end(control::Instance& instance, std::exception_ptr error) override {
      program_.end(instance, std::move(error));
    }
    bool wait() override { return server_.wait(); }

   private:
    BatchServer& server_;
    control::Program& program_;
  };

  std::optional<std::pair<std::int64_t, Item>> next() {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) return std::nullopt;
    auto item = std::make_shared<Submitted>(std::move(queue_.front()));
    queue_.pop_front();
    running_.emplace(count_, item);
    return std::pair<std::int64_t, Item>(count_++, std::move(item));
  }
  /// Until there is company enough, or the first has waited long enough. False at the end.
  bool wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) return false;
    const auto is_full = [&] { return closed_ || std::ssize(queue_) >= options_.run.in_flight; };
    changed_.wait_until(lock, queue_.front().when + options_.longest_wait, is_full);
    return true;
  }
  void run() {
    const auto next_item = [&] { return next(); };
    const auto function = [&](Graph& graph, const Item& item) { return function_(graph, item->given); };
    const auto done = [&](std::int64_t number, Outcome<T> outcome) {
      const Item item = running_.extract(number).mapped();
      if (outcome.ok())
        item->result.set_value(std::move(outcome).value());
      else
        item->result.set_exception(outcome.error());
    };
    control::ProgramOf<Item, const decltype(next_item), const decltype(function), const decltype(done)> program(
        next_item, function, done);
    Queue queue(*this, program);
    control::Runner runner(queue, nullptr, options_.run);
    std::exception_ptr ended;
    try {
      if (wait()) runner.run();
    } catch (...) {
      ended = std::current_exception();
    }
    if (options_.run.statistics != nullptr) *options_.run.statistics = runner.statistics();
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    for (Submitted& never_begun : queue_)
      never_begun.result.set_exception(ended != nullptr ? ended
                                                        : std::make_exception_ptr(RunEnded(RunEnded::Why::kCancelled)));
    queue_.clear();
  }

  Function function_;
  ServerOptions options_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Submitted> queue_;
  std::map<std::int64_t, Item> running_;
  std::int64_t count_ = 0;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace espalier
