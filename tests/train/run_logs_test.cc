/// Files about a run: events for TensorBoard and rows for spreadsheets.
#include "espalier/train/run_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/train/event_file.h"
#include "tests/train/small_task.h"

namespace espalier::train {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunLogs : public ::testing::Test {
 protected:
  RunLogs() { fs::create_directories(folder_); }
  ~RunLogs() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path folder_ = fs::path(::testing::TempDir()) / ("run_logs_" + std::to_string(::getpid()) + "_" +
                                                       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(TfRecord, HasLengthContentAndMaskedSums) {
  // The sum of "123456789" is E3069283; rotated right by 15 and with A282EAD8 added it is C78AB0E5, lowest byte first.
  // The sum of the length's eight bytes was computed bit by bit elsewhere.
  EXPECT_EQ(tf_record("123456789"),
            std::string("\x09\0\0\0\0\0\0\0", 8) + "\x37\xF9\x71\x39" + "123456789" + "\xE5\xB0\x8A\xC7");
}

TEST_F(RunLogs, EventsHaveTheBytesOfTheirMessages) {
  const fs::path path = folder_ / "events";
  {
    EventFile file(path, 2.0);
    file.scalar("a", 1.0, 3, 2.0);
    file.restart(5, 2.0);
    file.text("s", "m", 0, 2.0);
  }
  const std::string time("\x09\0\0\0\0\0\0\0\x40", 9);  // field 1, the double 2
  const std::string begin = time + "\x1A\x0D" + "brain.Event:2";
  const std::string scalar = time + "\x10\x03\x2A\x0A\x0A\x08\x0A\x01" + "a" + std::string("\x15\0\0\x80\x3F", 5);
  const std::string restart = time + "\x10\x05\x3A\x02\x08\x01";
  const std::string tensor = std::string("\x42\x07\x08\x07\x12\0\x42\x01m", 9);
  const std::string metadata = "\x4A\x08\x0A\x06\x0A\x04text";
  const std::string text = time + "\x2A\x18\x0A\x16\x0A\x01s" + tensor + metadata;
  EXPECT_EQ(read_file(path), tf_record(begin) + tf_record(scalar) + tf_record(restart) + tf_record(text));
}

TEST_F(RunLogs, NamesOfEventFilesAreInOrderOfTime) {
  EXPECT_EQ(event_file_name(1.5), "events.out.tfevents.0000000001.500000.espalier");
  EXPECT_LT(event_file_name(999'999'999.9), event_file_name(1'000'000'000.1));
}

TEST_F(RunLogs, AFolderThatCannotBeWrittenIsRefused) {
  EXPECT_THROW(EventFile(folder_ / "missing" / "events", 0), ResourceError);
}

TEST(CsvText, HasARowPerEpoch) {
  std::vector<EpochSummary> epochs(3);
  epochs[0] = {.epoch = 1, .updates = 10, .loss = 0.1, .accuracy = 0.5, .held_out = {}, .is_best = false, .seconds = 2};
  epochs[1] = {.epoch = 2,
               .updates = 20,
               .loss = 1.0 / 3,
               .accuracy = {},
               .held_out = {{"f1, \"span\"", 0.25, true}, {"loss", 1.5, false}},
               .is_best = true,
               .seconds = 2.5};
  epochs[2] = epochs[1];
  epochs[2].held_out.erase(epochs[2].held_out.begin());
  EXPECT_EQ(csv_text(epochs),
            "epoch,updates,loss,accuracy,\"held_out_f1, \"\"span\"\"\",held_out_loss,best,seconds\n"
            "1,10,0.1,0.5,,,0,2\n"
            "2,20,0.3333333333333333,,0.25,1.5,1,2.5\n"
            "2,20,0.3333333333333333,,,1.5,1,2.5\n");
  EXPECT_EQ(csv_text({}), "epoch,updates,loss,accuracy,best,seconds\n");
}

/// The first two fields of each row.
std::vector<std::string> rows_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(line.substr(0, line.find(',', line.find(',') + 1)));
  return rows;
}

/// Runs epochs from where the folder's run is, with both logs.
void run_epochs(const fs::path& folder, std::int32_t epochs, std::int64_t stop_after, double now) {
  const std::vector<Sentence> training = sentences(40, 1);
  const std::vector<Sentence> held_out = sentences(20, 2);
  SmallNet net;
  const TaskOf<Sentence> task(small_parts(net, training, held_out));
  CsvLog csv(folder / "log.csv");
  TensorBoardLog events(folder, [&] { return now; });
  struct Stopper : Observer {
    Trainer* trainer = nullptr;
    std::int64_t after = 0;
    void step_done(const StepDone& event) override {
      if (event.update == after) trainer->request_stop();
    }
  } stopper;
  Trainer trainer(net.model, task,
                  {.folder = folder, .epochs = epochs, .batch = 10, .observers = {&csv, &events, &stopper}});
  stopper.trainer = &trainer;
  stopper.after = stop_after;
  trainer.run();
}

TEST_F(RunLogs, AResumedRunRepeatsNoRow) {
  run_epochs(folder_, 3, 6, 1000);  // stops within the second epoch of 4 updates
  EXPECT_EQ(rows_of(folder_ / "log.csv"), (std::vector<std::string>{"epoch,updates", "1,4"}));
  run_epochs(folder_, 3, 0, 2000);
  EXPECT_EQ(rows_of(folder_ / "log.csv"), (std::vector<std::string>{"epoch,updates", "1,4", "2,8", "3,12"}));
}

/// What a program prints, and its exit code.
std::pair<std::string, int> output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const int status = ::pclose(pipe);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

TEST_F(RunLogs, TensorBoardReadsThem) {
  const char* chosen = std::getenv("PYTHON");
  const std::string python = chosen == nullptr ? "python3" : chosen;
  if (output_of(python + " -c 'import tensorboard' 2>&1").second != 0)
    GTEST_SKIP() << "the Python package tensorboard is not there (PYTHON names the interpreter)";
  run_epochs(folder_, 3, 6, 1000);
  run_epochs(folder_, 3, 0, 2000);
  std::ofstream(folder_ / "read.py") << R"(
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={'scalars': 0, 'tensors': 0})
events.Reload()
def values(tag):
  return [(e.step, e.wall_time, round(float(e.value), 6)) for e in events.Scalars(tag)]
for tag in sorted(events.Tags()['scalars']):
  print(tag, *[step for step, _, _ in values(tag)])
print('times', *[int(time) for _, time, _ in values('train/loss')])
print(events.Tensors('settings/text_summary' if 'settings/text_summary' in events.Tags()['tensors'] else 'settings')[0]
      .tensor_proto.string_val[0].decode())
)";
  const auto [text, code] =
      output_of(python + " " + (folder_ / "read.py").string() + " " + folder_.string() + " 2>/dev/null");
  EXPECT_EQ(code, 0) << text;
  EXPECT_THAT(text, HasSubstr("train/loss 1 2 3 4 5 6 7 8 9 10 11 12\n"));
  EXPECT_THAT(text, HasSubstr("epoch/loss 4 8 12\n"));
  EXPECT_THAT(text, HasSubstr("held_out/accuracy 4 8 12\n"));
  EXPECT_THAT(text, HasSubstr("times 1000 1000 1000 1000 1000 1000 2000 2000 2000 2000 2000 2000\n"));
  EXPECT_THAT(text, HasSubstr("| batch | 10 |"));
}

}  // namespace
}  // namespace espalier::train
