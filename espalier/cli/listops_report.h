/// What `train listops` and `eval` print and write about their data and results.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "espalier/data/listops.h"
#include "espalier/models/listops.h"
#include "espalier/train/observer.h"
#include "espalier/train/progress.h"

namespace espalier::cli {

/// Sizes, depth histogram and majority baseline, on standard output.
void print_data(std::span<const data::Tree> train, std::span<const data::Tree> held_out);
/// Accuracy overall and on deep expressions, on standard output.
void print_score(std::string_view what, const models::ListOpsScore& score);

/// Instances a second by strategy, as a table on standard output.
void print_speeds(std::int32_t batch, std::span<const models::StrategySpeed> speeds);
/// What ran together and where the time went, on standard output.
void print_statistics(const Statistics& statistics);

nlohmann::ordered_json to_json(const models::ListOpsScore& score);
nlohmann::ordered_json to_json(std::span<const models::StrategySpeed> speeds);
nlohmann::ordered_json to_json(const Statistics& statistics);
nlohmann::ordered_json to_json(std::span<const train::EpochSummary> history, std::size_t instances);
/// Writes a summary whole or not at all. Accuracies are written so that they read back to the same number.
void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json);

/// A watch that shows on a progress bar how much is done.
train::EvaluationWatch shown_on(train::Progress& progress);

}  // namespace espalier::cli
