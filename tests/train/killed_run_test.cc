/// A training run that is killed at any moment, or whose disk is full, goes on to the same bits.
///
/// The runs are processes of their own: this program again, with a test that is disabled otherwise. It kills itself at
/// a moment that the environment names: when it records an instance for the nth time (in whichever thread), or within
/// the nth checkpoint. fsync() and rename() of this program are its own for that.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/random.h"
#include "espalier/nn/safetensors.h"
#include "tests/support/refusal.h"
#include "tests/support/threads.h"
#include "tests/train/small_task.h"

namespace espalier::train {
namespace {

namespace fs = std::filesystem;

/// When this process kills itself. Counts from 1; 0: never.
struct Kill {
  std::atomic<int> at_record{0};
  int at_checkpoint = 0;
  enum Moment { kEmpty, kHalf, kWritten, kBeforeRename, kAfterRename } moment = kEmpty;
};
Kill planned_kill;
std::atomic<int> checkpoints_begun{0};

[[noreturn]] void kill_now() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

/// Whether an open file is a checkpoint, which its first bytes show.
bool is_checkpoint(int file) {
  const int again = ::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC);
  if (again < 0) return false;
  std::array<char, 64> bytes{};
  const ssize_t size = ::read(again, bytes.data(), bytes.size());
  ::close(again);
  return size > 0 && std::string(bytes.data(), static_cast<std::size_t>(size)).find("\"run\":") != std::string::npos;
}

bool ends_with_checkpoint(const char* path) { return std::string(path).ends_with("/checkpoint.safetensors"); }

}  // namespace
}  // namespace espalier::train

extern "C" int fsync(int file) {
  using namespace espalier::train;  // NOLINT(google-build-using-namespace)
  if (planned_kill.at_checkpoint > 0 && is_checkpoint(file) && ++checkpoints_begun == planned_kill.at_checkpoint) {
    const off_t size = ::lseek(file, 0, SEEK_END);
    const off_t left = planned_kill.moment == Kill::kEmpty ? 0 : size / 2;
    if (planned_kill.moment <= Kill::kHalf && ::ftruncate(file, left) == 0) kill_now();
    if (planned_kill.moment == Kill::kWritten) kill_now();
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  using namespace espalier::train;  // NOLINT(google-build-using-namespace)
  const bool is_now =
      planned_kill.at_checkpoint > 0 && checkpoints_begun == planned_kill.at_checkpoint && ends_with_checkpoint(to);
  if (is_now && planned_kill.moment == Kill::kBeforeRename) kill_now();
  const auto result = static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  if (is_now && planned_kill.moment == Kill::kAfterRename) kill_now();
  return result;
}

namespace espalier::train {
namespace {

TrainerOptions long_run(const fs::path& folder) {
  TrainerOptions options;
  options.folder = folder;
  options.epochs = 12;
  options.batch = 8;
  options.accumulate = 3;
  options.average_decay = 0.9;
  options.checkpoint_every = 2;
  options.optimizer = "adam(learning_rate=0.01, clip_norm=1)";
  options.schedule = "cosine";
  options.warmup = 5;
  return options;
}

/// A run with dropout, two lanes, accumulation and averages. Kills itself if that was planned.
RunResult run_here(const TrainerOptions& options) {
  const testing::Threads two(2);
  const std::vector<Sentence> training = sentences(200, 3);
  const std::vector<Sentence> held_out = sentences(40, 4);
  SmallNet net(0.3);
  TaskParts<Sentence> parts = small_parts(net, training, held_out);
  parts.output = [&](Graph& graph, const Sentence& sentence) {
    if (planned_kill.at_record > 0 && --planned_kill.at_record == 0) kill_now();
    return net.scores(graph, sentence);
  };
  const TaskOf<Sentence> task(parts);
  return Trainer(net.model, task, options).run();
}

int number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

TEST(KilledRun, DISABLED_Child) {
  planned_kill.at_record = number_in_environment("KILL_AT_RECORD");
  planned_kill.at_checkpoint = number_in_environment("KILL_AT_CHECKPOINT");
  planned_kill.moment = static_cast<Kill::Moment>(number_in_environment("KILL_MOMENT"));
  EXPECT_EQ(run_here(long_run(std::getenv("RUN_FOLDER"))).ending, Ending::kFinished);
}

/// Runs a disabled test of this program in a process of its own; gives what waitpid() says of it.
int run_child(const std::string& test, std::vector<std::string> environment) {
  std::vector<std::string> words{"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_filter=" + test,
                                 "--gtest_brief=1"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("GTEST_") && !text.starts_with("KILL_")) environment.push_back(text);
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  pid_t child = 0;
  int status = -1;
  if (::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, pointers(words).data(), pointers(environment).data()) ==
      0)
    ::waitpid(child, &status, 0);
  return status;
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

/// Weights, averages and state of the optimizer at the end of two runs, and their best weights.
void expect_same_runs(const fs::path& one, const fs::path& other) {
  const SafetensorsReader a(one / "checkpoint.safetensors");
  const SafetensorsReader b(other / "checkpoint.safetensors");
  ASSERT_EQ(a.names(), b.names());
  for (const std::string& name : a.names()) EXPECT_TRUE(a.read(name) == b.read(name)) << name;
  EXPECT_TRUE(read_file(one / "best.safetensors") == read_file(other / "best.safetensors"));
}

TEST(KilledRun, EndsWithTheBitsOfARunThatNeverStopped) {
  const TemporaryFolder folder;
  run_here(long_run(folder / "whole"));
  const std::string run = "RUN_FOLDER=" + (folder / "killed").string();
  Random random(7);
  constexpr int kKills = 20;
  for (int i = 0; i < kKills; ++i) {
    std::vector<std::string> environment{run};
    if (i % 4 == 3) {
      environment.push_back("KILL_AT_CHECKPOINT=" + std::to_string(1 + random.below(3)));
      environment.push_back("KILL_MOMENT=" + std::to_string(i / 4));
    } else {
      environment.push_back("KILL_AT_RECORD=" + std::to_string(1 + random.below(130)));
    }
    const int status = run_child("KilledRun.DISABLED_Child", environment);
    ASSERT_TRUE(WIFSIGNALED(status)) << "life " << i << " was not killed: " << status;
    ASSERT_EQ(WTERMSIG(status), SIGKILL);
  }
  ASSERT_EQ(run_child("KilledRun.DISABLED_Child", {run}), 0);
  expect_same_runs(folder / "whole", folder / "killed");
  EXPECT_THAT(files_in(folder / "killed"),
              ::testing::UnorderedElementsAre("checkpoint.safetensors", "best.safetensors"));
}

/// Fills the disk after the third checkpoint: with a file on a file system of its own where that can be made, else by a
/// limit to the size of files.
class FillsTheDisk : public Observer {
 public:
  explicit FillsTheDisk(fs::path folder) : filler_(folder / "filler") {
    is_own_ = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
              ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=256k") == 0;
  }
  void checkpoint_written(const CheckpointWritten&) override {
    if (++written_ != 3) return;
    if (!is_own_) return limit_files(1024);
    std::ofstream file(filler_, std::ios::binary);
    while (file.write("filler", 6).flush()) {
    }
  }
  void make_room() {
    if (!is_own_) return limit_files(RLIM_INFINITY);
    fs::remove(filler_);
  }

 private:
  static void limit_files(rlim_t most) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = most;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }

  fs::path filler_;
  bool is_own_ = false;
  int written_ = 0;
};

TEST(FullDisk, DISABLED_Child) {
  const fs::path folder(std::getenv("RUN_FOLDER"));
  fs::create_directories(folder / "small");
  FillsTheDisk filler(folder / "small");
  TrainerOptions options = long_run(folder / "small" / "run");
  options.observers = {&filler};
  EXPECT_THAT(
      testing::refusal_of<ResourceError>([&] { run_here(options); }),
      ::testing::MatchesRegex("cannot write \".*/(best|checkpoint).safetensors\": (No space left on device|File "
                              "too large)"));
  filler.make_room();
  EXPECT_EQ(run_here(options).ending, Ending::kFinished);
  expect_same_runs(folder / "whole", folder / "small" / "run");
}

TEST(FullDisk, LosesNothing) {
  const TemporaryFolder folder;
  run_here(long_run(folder / "whole"));
  EXPECT_EQ(run_child("FullDisk.DISABLED_Child", {"RUN_FOLDER=" + (folder / "").string()}), 0);
}

}  // namespace
}  // namespace espalier::train
