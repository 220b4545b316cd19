/// The standard models by name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "espalier/models/standard_model.h"

namespace espalier::models {

struct Entry {
  std::string_view name;
  std::string_view summary;
  std::string_view example;  // options of `espalier train NAME`
  std::unique_ptr<StandardModel> (*make)();
};

std::span<const Entry> registry();

std::unique_ptr<StandardModel> make_sentiment();
std::unique_ptr<StandardModel> make_tagger();
std::unique_ptr<StandardModel> make_json();
std::unique_ptr<StandardModel> make_lattice();
std::unique_ptr<StandardModel> make_parser();
std::unique_ptr<StandardModel> make_relatedness();
std::unique_ptr<StandardModel> make_molecules();
std::unique_ptr<StandardModel> make_plans();

}  // namespace espalier::models
