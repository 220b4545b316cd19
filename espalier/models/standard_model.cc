#include "espalier/models/standard_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/base/files.h"
#include "espalier/base/nearest.h"
#include "espalier/base/random.h"
#include "espalier/data/json.h"
#include "espalier/models/model_of.h"
#include "espalier/models/registry.h"

namespace espalier::models {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFormat = 1;
constexpr std::string_view kFile = "model.json";

bool has_word(std::string_view name, std::string_view word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(name.begin(), name.end(), word.begin(), word.end(), same) != name.end();
}

/// The entry of a folder whose name has one of these words.
std::vector<fs::path> entry_with(const fs::path& folder, std::span<const std::string_view> words,
                                 std::string_view split) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    if (std::any_of(words.begin(), words.end(), [&](std::string_view word) { return has_word(name, word); }))
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  if (found.size() < 2) return found;
  std::string names;
  for (const fs::path& path : found) names += fmt::format("{}{}", names.empty() ? "" : ", ", path.filename().string());
  throw UsageError(fmt::format("{}: several entries could be the {} data: {}", folder.string(), split, names));
}

}  // namespace

StandardModel::~StandardModel() = default;

SettingList StandardModel::settings() {
  SettingList all;
  list(all);
  all.add("held_out", common_.held_out, "share of the training data that is held out if there are no such data", 0,
          0.9);
  all.add("test", common_.test, "share of the training data that is set apart for testing if there are no such data", 0,
          0.9);
  all.add("split_seed", common_.split_seed, "chooses these shares", 0);
  return all;
}

Value StandardModel::description() {
  return Value::map({{"format", kFormat}, {"model", name()}, {"settings", settings().to_value()}, {"facts", facts()}});
}

void StandardModel::save(const fs::path& folder) {
  ensure_writable_folder(folder);
  write_file_atomically(folder / kFile, description().to_text() + "\n");
}

DataPlaces find_data(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw ResourceError(fmt::format("cannot read \"{}\": there is no such file", path.string()));
  DataPlaces places;
  if (!fs::is_directory(status)) {
    places[0] = {path};
    return places;
  }
  constexpr std::array<std::string_view, 1> kTrain{"train"};
  constexpr std::array<std::string_view, 3> kHeldOut{"dev", "valid", "trial"};
  constexpr std::array<std::string_view, 1> kTest{"test"};
  places[0] = entry_with(path, kTrain, "training");
  places[1] = entry_with(path, kHeldOut, "held-out");
  places[2] = entry_with(path, kTest, "test");
  if (places[0].empty() && places[1].empty() && places[2].empty()) places[0] = {path};
  if (places[0].empty())
    throw UsageError(fmt::format("{}: no file or folder there has \"train\" in its name", path.string()));
  return places;
}

fs::path test_part_of(const fs::path& path) {
  constexpr std::array<std::string_view, 1> kTest{"test"};
  if (!fs::is_directory(path)) return path;
  const std::vector<fs::path> found = entry_with(path, kTest, "test");
  return found.empty() ? path : found.front();
}

std::vector<train::Split> split_by_group(std::span<const std::string> groups, const SplitShares& shares) {
  std::vector<std::string> names(groups.begin(), groups.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  Random random(shares.seed);
  for (std::size_t i = names.size(); i > 1; --i)
    std::swap(names[i - 1], names[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  const auto count = static_cast<double>(names.size());
  const auto held_out = static_cast<std::size_t>(std::lround(count * shares.held_out));
  const auto test = static_cast<std::size_t>(std::lround(count * shares.test));
  if (held_out + test >= names.size())
    throw DataError(fmt::format("{} training records are too few to set others apart", names.size()));
  std::map<std::string, train::Split> of_group;
  for (std::size_t i = 0; i < names.size(); ++i)
    of_group[names[i]] = i < held_out          ? train::Split::kHeldOut
                         : i < held_out + test ? train::Split::kTest
                                               : train::Split::kTrain;
  std::vector<train::Split> splits;
  for (const std::string& group : groups) splits.push_back(of_group.at(group));
  return splits;
}

Value class_answer(std::span<const std::string> classes, const Tensor& scores) {
  std::size_t best = 0;
  double sum = 0;
  for (std::size_t c = 1; c < classes.size(); ++c)
    if (scores.at(static_cast<std::int64_t>(c)) > scores.at(static_cast<std::int64_t>(best))) best = c;
  const double most = scores.at(static_cast<std::int64_t>(best));
  const auto share = [&](std::size_t c) { return std::exp(scores.at(static_cast<std::int64_t>(c)) - most); };
  for (std::size_t c = 0; c < classes.size(); ++c) sum += share(c);
  std::vector<Value::Entry> all;
  for (std::size_t c = 0; c < classes.size(); ++c) all.push_back({classes[c], share(c) / sum});
  return Value::map(
      {{"class", classes[best]}, {"probability", 1 / sum}, {"probabilities", Value::map(std::move(all))}});
}

void add(data::ReadReport& to, const data::ReadReport& from) {
  to.records += from.records;
  to.damaged += from.damaged;
  for (const std::string& error : from.errors)
    if (to.errors.size() < data::ReadReport::kMostErrors) to.errors.push_back(error);
}

std::span<const std::string_view> names() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> result;
    for (const Entry& entry : registry()) result.push_back(entry.name);
    return result;
  }();
  return all;
}

namespace {

const Entry& entry_of(std::string_view name) {
  for (const Entry& entry : registry())
    if (entry.name == name) return entry;
  throw UsageError(fmt::format("there is no model \"{}\"{}", name, suggestion_or_names(name, names())));
}

}  // namespace

std::string_view summary_of(std::string_view name) { return entry_of(name).summary; }
std::string_view example_of(std::string_view name) { return entry_of(name).example; }
std::unique_ptr<StandardModel> make(std::string_view name) { return entry_of(name).make(); }

std::unique_ptr<StandardModel> restore(const Value& value, std::string_view source, Form form) {
  std::unique_ptr<StandardModel> model;
  try {
    if (value.at("format").as_integer() != kFormat)
      throw UsageError(fmt::format("its format is {}, not {}", value.at("format").to_text(), kFormat));
    model = make(value.at("model").as_string());
    model->settings().assign(value.at("settings"));
    model->record_as(form);
    model->restore(value.at("facts"));
  } catch (const UsageError& error) {
    throw DataError(fmt::format("{}: this does not describe a model: {}", source, error.what()));
  }
  return model;
}

std::unique_ptr<StandardModel> load(const fs::path& folder, Form form) {
  const fs::path path = folder / kFile;
  std::unique_ptr<StandardModel> model = restore(data::read_json(path), path.string(), form);
  const fs::path best = folder / "best.safetensors";
  model->weights().load(fs::exists(best) ? best : folder / "weights.safetensors");
  return model;
}

}  // namespace espalier::models
