/// A folder with data for standard models, and what a model makes of them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/files.h"
#include "espalier/models/standard_model.h"
#include "espalier/train/evaluate.h"
#include "espalier/train/trainer.h"

namespace espalier::models::testing {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class ModelFiles : public ::testing::Test {
 protected:
  ModelFiles() { fs::create_directories(folder_); }
  ~ModelFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }

  static std::vector<std::string> answers(const StandardModel& model, const std::string& text, bool json_lines,
                                          std::int64_t batch = 64) {
    std::vector<std::string> all;
    model.predict(data::Input::text(text), {.json_lines = json_lines, .batch = batch, .read = {}},
                  [&](const Value& answer) { all.push_back(answer.to_text()); });
    return all;
  }

  /// Trains on a file whose records it must learn by heart, saves and loads, and expects the same answers to `asked`.
  /// Gives the metrics of the training data.
  std::vector<train::Metric> learn(const std::string& name, const DataPlaces& places,
                                   const std::vector<std::pair<std::string, std::string>>& settings, int epochs,
                                   const std::string& asked, bool json_lines, std::size_t expected_answers) {
    fs::remove_all(folder_ / "run");
    const std::unique_ptr<StandardModel> model = make(name);
    for (const auto& [key, value] : settings) model->settings().at(key).assign_text(value);
    model->settings().at("held_out").assign(Value(0));
    model->read_data(places);
    model->build(3);
    train::Trainer trainer(
        model->weights(), *model,
        {.folder = folder_ / "run", .epochs = epochs, .batch = 8, .optimizer = "adam(learning_rate=0.02)"});
    model->save(folder_ / "run");
    trainer.run();
    model->weights().save(folder_ / "run" / "weights.safetensors");
    const std::unique_ptr<StandardModel> loaded = load(folder_ / "run");
    EXPECT_EQ(loaded->name(), name);
    EXPECT_FALSE(loaded->describe().empty());
    const std::vector<std::string> given = answers(*model, asked, json_lines);
    EXPECT_EQ(given.size(), expected_answers);
    EXPECT_EQ(answers(*loaded, asked, json_lines), given);
    EXPECT_EQ(answers(*loaded, asked, json_lines, 1).size(), given.size());
    last_answers_ = given;
    return train::evaluate(*model, train::Split::kTrain).metrics;
  }

  fs::path folder_ = fs::temp_directory_path() / ("standard_models_" + std::to_string(::getpid()));
  std::vector<std::string> last_answers_;
};

}  // namespace espalier::models::testing
