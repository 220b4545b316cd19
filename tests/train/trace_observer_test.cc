#include "espalier/train/trace_observer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "espalier/base/error.h"
#include "tests/train/small_task.h"

namespace espalier::train {
namespace {

namespace fs = std::filesystem;

TEST(TraceObserver, WritesOneUpdatePerStepWhenTheRunEnds) {
  const fs::path file = fs::temp_directory_path() / ("trace_observer_" + std::to_string(::getpid()) + ".json");
  TraceObserver trace(file);
  EXPECT_FALSE(Trace::is_on());
  SmallNet net;
  const std::vector<Sentence> data = sentences(20, 3);
  TaskOf<Sentence> task(small_parts(net, data, data));
  Trainer trainer(net.model, task, {.epochs = 2, .batch = 4, .observers = {&trace}});
  const RunResult result = trainer.run();
  EXPECT_FALSE(Trace::is_on());
  std::ifstream stream(file);
  std::int64_t updates = 0;
  const nlohmann::json timeline = nlohmann::json::parse(stream);
  for (const auto& event : timeline["traceEvents"]) updates += event.value("cat", "") == "update" ? 1 : 0;
  EXPECT_EQ(updates, result.updates);
  EXPECT_EQ(trace.dropped(), 0);
  fs::remove(file);
}

TEST(TraceObserver, RefusesAFileThatCannotBeWrittenBeforeTheRun) {
  EXPECT_THROW(TraceObserver("/dev/null/run.json"), ResourceError);
}

}  // namespace
}  // namespace espalier::train
