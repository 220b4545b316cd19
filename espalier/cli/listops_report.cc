#include "espalier/cli/listops_report.h"

#include <fmt/format.h>

#include <cstdio>

#include "espalier/base/files.h"
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

void print_score(std::string_view what, const train::ListOpsScore& score) {
  fmt::print("{}: {} of {} right, accuracy {:.2f} %", what, score.correct, score.instances, 100 * score.accuracy());
  if (score.deep_instances > 0)
    fmt::print("; at depth {} and more {} of {}, {:.2f} %", train::kListOpsDeep, score.deep_correct,
               score.deep_instances, 100 * score.deep_accuracy());
  fmt::print("; loss {:.4f}\n", score.loss());
}

nlohmann::ordered_json to_json(const train::ListOpsScore& score) {
  return {{"instances", score.instances},
          {"correct", score.correct},
          {"accuracy", score.accuracy()},
          {"deep_instances", score.deep_instances},
          {"deep_correct", score.deep_correct},
          {"deep_accuracy", score.deep_accuracy()},
          {"loss", score.loss()}};
}

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json) {
  write_file_atomically(path, json.dump(2) + "\n");
}

train::ListOpsWatch shown_on(train::Progress& progress) {
  return [&progress](std::int64_t done, const train::ListOpsScore& score) {
    progress.update(done, score.loss(), score.accuracy());
  };
}

}  // namespace espalier::cli
