/// The data of models that make features of what a reader gives: query plans and molecules, in each of their formats.
#include <memory>

#include "espalier/data/molecule.h"
#include "espalier/models/standard_model.h"
#include "fuzz/input.h"

namespace espalier::fuzz {
namespace {

/// Reads a file as training data, and builds a small model of it.
void build_from(std::string_view name, std::string_view file, std::string_view input) {
  const std::filesystem::path path = temporary_file(file, input);
  accepts([&] {
    const std::unique_ptr<models::StandardModel> model = models::make(name);
    model->settings().at("hidden").assign(Value(2));
    model->settings().at("held_out").assign(Value(0));
    if (name == "molecules") model->settings().at("targets").assign(Value("y"));
    const models::DataPlaces places{{{path}, {}, {}}};
    model->read_data(places, {.skip_damaged = true});
    model->build(1);
    for (std::int64_t i = 0; i < model->size(train::Split::kTrain); ++i)
      check(model->nodes(train::Split::kTrain, i) > 0, "an instance has nodes");
  });
}

}  // namespace

void model_data(std::string_view input) {
  build_from("plans", "data.jsonl", input);
  if (!data::rdkit_available()) return;
  for (const std::string_view file : {"data.csv", "data.sdf"}) build_from("molecules", file, input);
}

}  // namespace espalier::fuzz
