/// Resuming a run: what is refused and said, signals, and folders that are in use. killed_run_test.cc has the bits of
/// runs that were killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "tests/support/refusal.h"
#include "tests/support/threads.h"
#include "tests/train/small_task.h"

namespace espalier::train {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal_of;

class Resuming : public ::testing::Test, public Observer {
 protected:
  Resuming() {
    options_.folder = folder_ / "run";
    options_.epochs = 3;
    options_.batch = 10;
    options_.observers = {this};
  }

  void run_started(const RunStarted& event) override {
    notes_.assign(event.notes.begin(), event.notes.end());
    resumed_ = event.resumed;
  }
  void step_done(const StepDone& event) override {
    if (on_step_) on_step_(event.update);
  }

  RunResult run(SmallNet& net) {
    const TaskOf<Sentence> task(small_parts(net, training_, held_out_));
    Trainer trainer(net.model, task, options_);
    trainer_ = &trainer;
    return trainer.run();
  }
  RunResult run() {
    SmallNet net(0.3);
    return run(net);
  }
  /// Runs until update 5, and stops.
  RunResult interrupt() {
    on_step_ = [&](std::int64_t update) {
      if (update == 5) trainer_->request_stop();
    };
    const RunResult result = run();
    on_step_ = nullptr;
    return result;
  }
  std::string refusal() {
    return refusal_of<UsageError>([&] { run(); });
  }
  std::string folder_name() const { return "\"" + options_.folder + "\""; }

  TemporaryFolder folder_;
  std::vector<Sentence> training_ = sentences(80, 5);
  std::vector<Sentence> held_out_ = sentences(20, 6);
  TrainerOptions options_;
  Trainer* trainer_ = nullptr;
  std::vector<std::string> notes_;
  bool resumed_ = false;
  std::function<void(std::int64_t)> on_step_;
};

TEST_F(Resuming, GoesOnAfterAnInterruption) {
  SmallNet whole(0.3);
  run(whole);
  options_.folder = folder_ / "other";
  const RunResult stopped = interrupt();
  EXPECT_EQ(stopped.ending, Ending::kInterrupted);
  EXPECT_EQ(stopped.message,
            "interrupted after 0 of 3 epochs and 5 updates; to resume, run again with the folder " + folder_name());
  SmallNet resumed(0.3);
  const RunResult result = run(resumed);
  EXPECT_TRUE(resumed_);
  EXPECT_THAT(notes_, ElementsAre());
  EXPECT_EQ(result.ending, Ending::kFinished);
  EXPECT_EQ(result.updates, 24);
  EXPECT_EQ(result.history.size(), 3U);
  EXPECT_EQ(weights_of(resumed.model), weights_of(whole.model));
}

TEST_F(Resuming, ASecondCallOfTheSameTrainerGoesOn) {
  SmallNet whole(0.3);
  run(whole);
  for (const bool has_folder : {true, false}) {
    options_.folder = has_folder ? folder_ / "other" : fs::path();
    SmallNet net(0.3);
    const TaskOf<Sentence> task(small_parts(net, training_, held_out_));
    Trainer trainer(net.model, task, options_);
    on_step_ = [&](std::int64_t update) {
      if (update % 5 == 0) trainer.request_stop();
    };
    int calls = 1;
    while (trainer.run().ending == Ending::kInterrupted) ++calls;
    EXPECT_EQ(calls, 5);
    EXPECT_EQ(weights_of(net.model), weights_of(whole.model)) << has_folder;
  }
}

TEST_F(Resuming, ARunThatHasEndedOnlyLoadsItsWeights) {
  SmallNet trained(0.3);
  run(trained);
  const std::string before = read_file(options_.folder + "/checkpoint.safetensors");
  SmallNet again(0.3);
  on_step_ = [](std::int64_t) { FAIL() << "it trained"; };
  const RunResult result = run(again);
  EXPECT_TRUE(result.resumed);
  EXPECT_EQ(result.ending, Ending::kFinished);
  EXPECT_EQ(weights_of(again.model), weights_of(trained.model));
  EXPECT_TRUE(before == read_file(options_.folder + "/checkpoint.safetensors"));
}

TEST_F(Resuming, SaysHowAPersonResumes) {
  options_.how_to_resume = "program --resume";
  EXPECT_EQ(interrupt().message, "interrupted after 0 of 3 epochs and 5 updates; to resume: program --resume");
}

TEST_F(Resuming, SaysThatOtherThreadsGiveOtherBits) {
  {
    const testing::Threads one(1);
    interrupt();
  }
  const testing::Threads two(2);
  run();
  EXPECT_THAT(notes_, ElementsAre("the run used 1 threads and uses 2 now: its bits will differ from those of a run "
                                  "that never stopped"));
}

TEST_F(Resuming, RefusesOtherSettingsAndNamesThem) {
  options_.facts = {{"hidden", "5"}, {"gone", "x"}};
  interrupt();
  options_.batch = 20;
  options_.facts = {{"hidden", "6"}, {"new", "y"}};
  EXPECT_EQ(refusal(), "the run in folder " + folder_name() +
                           " has other settings or data\n  batch was 10 and is 20 now\n  hidden was 5 and is 6 now\n"
                           "  new is y now and was not set\n  gone was x and is not set now");
  options_.allow_changes = true;
  EXPECT_EQ(run().ending, Ending::kFinished);
  EXPECT_EQ(notes_.size(), 4U);
  EXPECT_EQ(notes_[0], "batch was 10 and is 20 now: the run differs from one that never stopped");
}

TEST_F(Resuming, RefusesOtherData) {
  interrupt();
  training_[3].words.push_back(1);
  EXPECT_THAT(refusal(), HasSubstr("has other settings or data\n  data.train was 80 instances ("));
  training_.pop_back();
  EXPECT_THAT(refusal(), HasSubstr("and is 79 instances ("));
}

TEST_F(Resuming, RefusesAnotherModel) {
  interrupt();
  SmallNet net(0.3);
  net.model.add("more", {2}, init::constant(0));
  EXPECT_EQ(refusal_of<UsageError>([&] { run(net); }),
            "the run in folder " + folder_name() + " has another model\n  parameter \"more\" is new");
}

TEST_F(Resuming, BeginsOnlyWhereNothingIsLost) {
  options_.start = Start::kResume;
  EXPECT_EQ(refusal(), "there is no run to resume in folder " + folder_name());
  options_.start = Start::kResumeOrBegin;
  interrupt();
  options_.start = Start::kBegin;
  EXPECT_EQ(refusal(),
            "folder " + folder_name() + " has a run that has not ended: resume it, or choose another folder");
  options_.start = Start::kReplace;
  EXPECT_EQ(run().updates, 24);
  EXPECT_FALSE(resumed_);
  options_.start = Start::kBegin;  // that one has ended
  EXPECT_EQ(run().updates, 24);
  EXPECT_FALSE(resumed_);
  fs::remove(options_.folder + "/checkpoint.safetensors");
  EXPECT_EQ(refusal(), "folder " + folder_name() +
                           " has best weights of a run without its checkpoint: move them, or choose another folder");
}

TEST_F(Resuming, TrainsFurtherIfMoreEpochsAreWanted) {
  run();
  options_.epochs = 5;
  options_.allow_changes = true;
  const RunResult result = run();
  EXPECT_EQ(result.history.size(), 5U);
  EXPECT_EQ(result.updates, 40);
}

TEST_F(Resuming, RefusesASecondRunInTheSameFolder) {
  std::string told;
  on_step_ = [&](std::int64_t update) {
    if (update != 2) return;
    SmallNet net;
    const TaskOf<Sentence> task(small_parts(net, training_, held_out_));
    TrainerOptions same = options_;
    same.observers.clear();
    told = refusal_of<ResourceError>([&] { Trainer(net.model, task, same).run(); });
  };
  EXPECT_EQ(run().ending, Ending::kFinished);
  EXPECT_EQ(told, "run folder " + folder_name() + " is in use by process " + std::to_string(::getpid()) +
                      ": two runs cannot write to one folder");
  EXPECT_FALSE(fs::exists(options_.folder + "/run.lock"));
}

TEST_F(Resuming, IsNotStoppedByWhatADeadProcessLeft) {
  fs::create_directories(options_.folder);
  std::ofstream(options_.folder + "/run.lock") << "process 999999999";
  std::ofstream(options_.folder + "/.espalier-999999999-0.tmp") << "half a checkpoint";
  std::ofstream(options_.folder + ("/.espalier-" + std::to_string(::getpid()) + "-99.tmp")) << "of a living process";
  EXPECT_EQ(run().ending, Ending::kFinished);
  EXPECT_FALSE(fs::exists(options_.folder + "/.espalier-999999999-0.tmp"));
  EXPECT_TRUE(fs::exists(options_.folder + ("/.espalier-" + std::to_string(::getpid()) + "-99.tmp")));
}

TEST_F(Resuming, RefusesAFileThatIsNoCheckpoint) {
  run();
  fs::copy_file(options_.folder + "/best.safetensors", options_.folder + "/checkpoint.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(refusal_of<DataError>([&] { run(); }),
            options_.folder + "/checkpoint.safetensors" + ": this is no checkpoint: its metadata lack \"run\"");
}

TEST_F(Resuming, ASignalFinishesTheUpdateAndWritesACheckpoint) {
  SmallNet whole(0.3);
  run(whole);
  for (const int signal : {SIGINT, SIGTERM}) {
    options_.folder = folder_ / std::to_string(signal);
    options_.handle_signals = true;
    on_step_ = [&](std::int64_t update) {
      if (update == 11) std::raise(signal);
    };
    const RunResult stopped = run();
    EXPECT_EQ(stopped.ending, Ending::kInterrupted);
    EXPECT_EQ(stopped.updates, 11);
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);  // as it was
    on_step_ = nullptr;
    SmallNet resumed(0.3);
    EXPECT_EQ(run(resumed).ending, Ending::kFinished);
    EXPECT_EQ(weights_of(resumed.model), weights_of(whole.model));
  }
}

TEST_F(Resuming, AnObserverThatThrowsLosesNothingBeforeTheLastCheckpoint) {
  SmallNet whole(0.3);
  run(whole);
  options_.folder = folder_ / "other";
  on_step_ = [](std::int64_t update) {
    if (update == 13) throw ResourceError("the report cannot be written");
  };
  EXPECT_EQ(refusal_of<ResourceError>([&] { run(); }), "the report cannot be written");
  on_step_ = nullptr;
  SmallNet resumed(0.3);
  EXPECT_EQ(run(resumed).updates, 24);
  EXPECT_EQ(weights_of(resumed.model), weights_of(whole.model));
}

}  // namespace
}  // namespace espalier::train
