/// A standard model on data of one's own: JSON lines, of which one field is to be predicted (docs/models.md).
#include <espalier/models/standard_model.h>
#include <espalier/train/evaluate.h>
#include <espalier/train/trainer.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace esp = espalier;
namespace fs = std::filesystem;

/// Arithmetic as JSON: {"op": "+", "args": [{"number": 2}, {"number": 3}], "large": false}
std::string expression(unsigned& seed, int depth, int& value) {
  const auto next = [&](unsigned bound) {
    return static_cast<int>((seed = seed * 1664525 + 1013904223) >> 16) % static_cast<int>(bound);
  };
  if (depth == 0 || next(4) == 0) {
    value = next(10);
    return "{\"number\": " + std::to_string(value) + ", \"large\": " + (value >= 20 ? "true" : "false") + "}";
  }
  int left = 0;
  int right = 0;
  const std::string args = expression(seed, depth - 1, left) + ", " + expression(seed, depth - 1, right);
  const bool plus = next(2) == 0;
  value = plus ? left + right : left * right;
  return std::string("{\"op\": \"") + (plus ? "+" : "*") + "\", \"args\": [" + args +
         "], \"large\": " + (value >= 20 ? "true" : "false") + "}";
}

int main() {
  const fs::path folder = fs::temp_directory_path() / "espalier_standard_model";
  fs::remove_all(folder);
  fs::create_directories(folder);
  unsigned seed = 1;
  std::ofstream file(folder / "expressions.jsonl");
  for (int i = 0, value = 0; i < 400; ++i) file << expression(seed, 3, value) << '\n';
  file.close();

  auto model = esp::models::make("json");
  model->settings().at("label").assign("large");
  model->settings().at("hidden").assign(24);
  model->settings().at("dropout").assign(0);
  model->read_data(esp::models::find_data(folder / "expressions.jsonl"));  // a tenth is held out
  model->build(/*seed=*/1);
  std::printf("%s", model->describe().c_str());

  esp::train::Trainer trainer(model->weights(), *model,
                              {.folder = folder / "run", .epochs = 12, .optimizer = "adam(learning_rate=0.01)"});
  model->save(folder / "run");
  trainer.run();
  const double accuracy = esp::train::evaluate(*model, esp::train::Split::kHeldOut).metrics.front().value;
  std::printf("held-out accuracy %.3f\n", accuracy);

  const auto trained = esp::models::load(folder / "run");  // in another process, for instance
  const std::string question =
      R"({"op": "*", "args": [{"number": 3}, {"op": "+", "args": [{"number": 2}, {"number": 6}]}]})";
  trained->predict(esp::data::Input::text(question), {.json_lines = true},
                   [](const esp::Value& answer) { std::printf("%s\n", answer.to_text().c_str()); });
  fs::remove_all(folder);
  return accuracy > 0.85 ? 0 : 1;
}
