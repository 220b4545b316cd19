#include "espalier/train/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "espalier/base/error.h"

namespace espalier::train {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers as text: JSON has neither NaN nor infinity.
std::string exact(double number) { return fmt::format("{}", number); }

double exact(const Json& json) {
  const std::string text = json.get<std::string>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw DataError(fmt::format("\"{}\" is not a number", text));
  return number;
}

Json to_json(const EpochSummary& epoch) {
  Json metrics = Json::array();
  for (const Metric& metric : epoch.held_out)
    metrics.push_back({{"name", metric.name}, {"value", exact(metric.value)}, {"higher", metric.higher_is_better}});
  Json json{{"epoch", epoch.epoch}, {"updates", epoch.updates}, {"loss", exact(epoch.loss)},
            {"held_out", metrics},  {"best", epoch.is_best},    {"seconds", exact(epoch.seconds)}};
  if (epoch.accuracy) json["accuracy"] = exact(*epoch.accuracy);
  return json;
}

EpochSummary epoch_from(const Json& json) {
  EpochSummary epoch;
  epoch.epoch = json.at("epoch").get<std::int32_t>();
  epoch.updates = json.at("updates").get<std::int64_t>();
  epoch.loss = exact(json.at("loss"));
  if (json.contains("accuracy")) epoch.accuracy = exact(json.at("accuracy"));
  for (const Json& metric : json.at("held_out"))
    epoch.held_out.push_back(
        {metric.at("name").get<std::string>(), exact(metric.at("value")), metric.at("higher").get<bool>()});
  epoch.is_best = json.at("best").get<bool>();
  epoch.seconds = exact(json.at("seconds"));
  return epoch;
}

RunState state_from(const Json& json) {
  RunState state;
  state.epoch = json.at("epoch").get<std::int32_t>();
  state.minibatch = json.at("minibatch").get<std::int64_t>();
  state.minibatches = json.at("minibatches").get<std::int64_t>();
  state.updates = json.at("updates").get<std::int64_t>();
  state.score.loss = exact(json.at("loss"));
  state.score.instances = json.at("instances").get<std::int64_t>();
  state.score.right = json.at("right").get<std::int64_t>();
  state.score.asked = json.at("asked").get<std::int64_t>();
  state.best_epoch = json.at("best_epoch").get<std::int32_t>();
  state.best_value = exact(json.at("best_value"));
  state.evaluations_since_best = json.at("evaluations_since_best").get<std::int32_t>();
  const std::string ended = json.at("ended").get<std::string>();
  for (const Ending ending : {Ending::kFinished, Ending::kStoppedEarly})
    if (ended == name_of(ending)) state.ended = ending;
  for (const Json& epoch : json.at("history")) state.history.push_back(epoch_from(epoch));
  return state;
}

/// f() of JSON that somebody may have changed.
template <class F>
auto read_json(std::string_view where, const F& f) {
  try {
    return f();
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: this is not what a Trainer writes: {}", where, error.what()));
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: this is not what a Trainer writes: {}", where, error.what()));
  }
}

const std::string* value_of(const Settings& settings, const std::string& name) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const auto& s) { return s.first == name; });
  return found == settings.end() ? nullptr : &found->second;
}

}  // namespace

std::string RunState::to_text() const {
  Json epochs = Json::array();
  for (const EpochSummary& summary : history) epochs.push_back(to_json(summary));
  const Json json{{"epoch", epoch},
                  {"minibatch", minibatch},
                  {"minibatches", minibatches},
                  {"updates", updates},
                  {"loss", exact(score.loss)},
                  {"instances", score.instances},
                  {"right", score.right},
                  {"asked", score.asked},
                  {"best_epoch", best_epoch},
                  {"best_value", exact(best_value)},
                  {"evaluations_since_best", evaluations_since_best},
                  {"ended", ended ? name_of(*ended) : std::string_view()},
                  {"history", std::move(epochs)}};
  return json.dump();
}

RunState RunState::from_text(std::string_view text, std::string_view where) {
  return read_json(where, [&] { return state_from(Json::parse(text)); });
}

std::string settings_text(const Settings& settings) {
  Json json = Json::array();
  for (const auto& [name, value] : settings) json.push_back(Json::array({name, value}));
  return json.dump();
}

Settings settings_from_text(std::string_view text, std::string_view where) {
  return read_json(where, [&] {
    Settings settings;
    for (const Json& pair : Json::parse(text))
      settings.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
    return settings;
  });
}

std::vector<std::string> settings_differences(const Settings& before, const Settings& now) {
  std::vector<std::string> result;
  for (const auto& [name, value] : now) {
    const std::string* old = value_of(before, name);
    if (old == nullptr)
      result.push_back(fmt::format("{} is {} now and was not set", name, value));
    else if (*old != value)
      result.push_back(fmt::format("{} was {} and is {} now", name, *old, value));
  }
  for (const auto& [name, value] : before)
    if (value_of(now, name) == nullptr) result.push_back(fmt::format("{} was {} and is not set now", name, value));
  return result;
}

}  // namespace espalier::train
