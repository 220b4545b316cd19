#include "espalier/cli/listops_report.h"

#include <fmt/format.h>

#include <cstdio>

#include "espalier/base/files.h"
#include "espalier/base/threads.h"
#include "espalier/train/terminal.h"

namespace espalier::cli {

void print_data(std::span<const data::Tree> train, std::span<const data::Tree> held_out) {
  if (!train.empty()) fmt::print("ListOps: {} expressions to train on, {} held out\n", train.size(), held_out.size());
  const bool utf8 = train::locale_is_utf8();
  fmt::print("held-out expressions by depth:\n{}",
             train::histogram_text("depth", "expressions", data::listops_depth_histogram(held_out), utf8));
  fmt::print("always answering the most common digit: {:.2f} %\n", 100 * data::majority_baseline(held_out));
  std::fflush(stdout);
}

void print_score(std::string_view what, const models::ListOpsScore& score) {
  fmt::print("{}: {} of {} right, accuracy {:.2f} %", what, score.correct, score.instances, 100 * score.accuracy());
  if (score.deep_instances > 0)
    fmt::print("; at depth {} and more {} of {}, {:.2f} %", models::kListOpsDeep, score.deep_correct,
               score.deep_instances, 100 * score.deep_accuracy());
  fmt::print("; loss {:.4f}\n", score.loss());
}

void print_speeds(std::int32_t batch, std::span<const models::StrategySpeed> speeds) {
  fmt::print("gradients of minibatches of {}, {} thread{}, strategies in turn, medians:\n", batch, thread_count(),
             thread_count() == 1 ? "" : "s");
  fmt::print("  {:<10} {:>12} {:>10} {:>10} {:>10}\n", "strategy", "instances/s", "times none", "steps", "bound");
  for (const models::StrategySpeed& speed : speeds)
    fmt::print("  {:<10} {:>12.0f} {:>10.2f} {:>10.0f} {:>10.0f}\n", name_of(speed.strategy),
               speed.instances_per_second, speed.instances_per_second / speeds[0].instances_per_second, speed.steps,
               speed.bound);
  std::fflush(stdout);
}

void print_statistics(const Statistics& statistics) {
  const Statistics::Seconds& seconds = statistics.seconds;
  fmt::print("{} nodes ran in {} steps, {:.1f} a step; {} were merged with equal ones, {} were views\n",
             statistics.nodes, statistics.steps, statistics.rows_a_step(), statistics.merged, statistics.views);
  fmt::print(
      "thread seconds: recording {:.1f}, scheduling {:.1f}, planning {:.1f}, forward {:.1f}, backward {:.1f}, update "
      "{:.1f}\n",
      seconds.recording, seconds.scheduling, seconds.planning, seconds.forward, seconds.backward, seconds.update);
}

nlohmann::ordered_json to_json(std::span<const models::StrategySpeed> speeds) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const models::StrategySpeed& speed : speeds)
    result[std::string(name_of(speed.strategy))] = {
        {"instances_per_second", speed.instances_per_second}, {"steps", speed.steps}, {"bound", speed.bound}};
  return result;
}

nlohmann::ordered_json to_json(const Statistics& statistics) {
  const Statistics::Seconds& seconds = statistics.seconds;
  return {{"nodes", statistics.nodes},
          {"views", statistics.views},
          {"merged", statistics.merged},
          {"steps", statistics.steps},
          {"bound", statistics.bound},
          {"forced", statistics.forced},
          {"rows_a_step", statistics.rows_a_step()},
          {"bytes_copied", statistics.bytes_copied},
          {"peak_bytes", statistics.peak_bytes},
          {"plans", statistics.plans},
          {"plan_hits", statistics.plan_hits},
          {"seconds",
           {{"recording", seconds.recording},
            {"scheduling", seconds.scheduling},
            {"planning", seconds.planning},
            {"forward", seconds.forward},
            {"backward", seconds.backward},
            {"update", seconds.update}}}};
}

nlohmann::ordered_json to_json(const models::ListOpsScore& score) {
  return {{"instances", score.instances},
          {"correct", score.correct},
          {"accuracy", score.accuracy()},
          {"deep_instances", score.deep_instances},
          {"deep_correct", score.deep_correct},
          {"deep_accuracy", score.deep_accuracy()},
          {"loss", score.loss()}};
}

nlohmann::ordered_json to_json(std::span<const train::EpochSummary> history, std::size_t instances) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const train::EpochSummary& epoch : history)
    result.push_back({{"instances", instances},
                      {"accuracy", epoch.accuracy.value_or(0)},
                      {"loss", epoch.loss},
                      {"seconds", epoch.seconds},
                      {"instances_per_second", static_cast<double>(instances) / epoch.seconds}});
  return result;
}

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json) {
  write_file_atomically(path, json.dump(2) + "\n");
}

train::EvaluationWatch shown_on(train::Progress& progress) {
  return [&progress](std::int64_t done, std::int64_t) { progress.update(done); };
}

}  // namespace espalier::cli
