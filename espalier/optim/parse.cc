#include "espalier/optim/parse.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "espalier/base/nearest.h"
#include "espalier/optim/adadelta.h"
#include "espalier/optim/adagrad.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/adamw.h"
#include "espalier/optim/call_text.h"
#include "espalier/optim/ftrl.h"
#include "espalier/optim/rmsprop.h"
#include "espalier/optim/sgd.h"

namespace espalier::optim {
namespace {

/// An option by its name: a number, or true or false.
template <class Options>
struct Field {
  std::string_view name;
  double Options::*number = nullptr;
  bool Options::*flag = nullptr;
};

template <class O>
constexpr Field<O> kRate{"learning_rate", &O::learning_rate};
template <class O>
constexpr Field<O> kClip{"clip_norm", &O::clip_norm};
template <class O>
constexpr Field<O> kDecay{"weight_decay", &O::weight_decay};
template <class O>
constexpr Field<O> kEpsilon{"epsilon", &O::epsilon};

/// What text may say of each rule.
template <class Rule>
struct Described;

template <>
struct Described<Adadelta> {
  using O = AdadeltaOptions;
  static constexpr std::string_view kName = "adadelta";
  static constexpr std::array kFields{kRate<O>, Field<O>{"decay", &O::decay}, kEpsilon<O>, kDecay<O>, kClip<O>};
};
template <>
struct Described<Adagrad> {
  using O = AdagradOptions;
  static constexpr std::string_view kName = "adagrad";
  static constexpr std::array kFields{kRate<O>, kEpsilon<O>, kDecay<O>, kClip<O>};
};
template <>
struct Described<Adam> {
  using O = AdamOptions;
  static constexpr std::string_view kName = "adam";
  static constexpr std::array kFields{
      kRate<O>, Field<O>{"beta1", &O::beta1}, Field<O>{"beta2", &O::beta2}, kEpsilon<O>, kDecay<O>, kClip<O>};
};
template <>
struct Described<AdamW> {
  using O = AdamWOptions;
  static constexpr std::string_view kName = "adamw";
  static constexpr std::array kFields{
      kRate<O>, Field<O>{"beta1", &O::beta1}, Field<O>{"beta2", &O::beta2}, kEpsilon<O>, kDecay<O>, kClip<O>};
};
template <>
struct Described<Ftrl> {
  using O = FtrlOptions;
  static constexpr std::string_view kName = "ftrl";
  static constexpr std::array kFields{kRate<O>, Field<O>{"beta", &O::beta}, Field<O>{"l1", &O::l1},
                                      Field<O>{"l2", &O::l2}, kClip<O>};
};
template <>
struct Described<RmsProp> {
  using O = RmsPropOptions;
  static constexpr std::string_view kName = "rmsprop";
  static constexpr std::array kFields{
      kRate<O>, Field<O>{"decay", &O::decay}, Field<O>{"momentum", &O::momentum}, kEpsilon<O>, kDecay<O>, kClip<O>};
};
template <>
struct Described<Sgd> {
  using O = SgdOptions;
  static constexpr std::string_view kName = "sgd";
  static constexpr std::array kFields{kRate<O>, Field<O>{"momentum", &O::momentum},
                                      Field<O>{"nesterov", nullptr, &O::nesterov}, kDecay<O>, kClip<O>};
};

using Rules = std::tuple<Adadelta, Adagrad, Adam, AdamW, Ftrl, RmsProp, Sgd>;

template <class Rule>
std::unique_ptr<Optimizer> make(Model& model, const CallText& parts) {
  using Of = Described<Rule>;
  typename Of::O options;
  for (const CallText::Option& option : parts.options) {
    bool found = false;
    std::vector<std::string_view> names;
    for (const auto& field : Of::kFields) {
      names.push_back(field.name);
      if (field.name != option.name) continue;
      found = true;
      if (field.flag != nullptr)
        options.*field.flag = parts.flag(option);
      else
        options.*field.number = parts.number(option);
    }
    if (!found)
      parts.refuse(
          fmt::format("{} has no option \"{}\"{}", Of::kName, option.name, suggestion_or_names(option.name, names)));
  }
  return std::make_unique<Rule>(model, options);
}

template <class Rule>
std::string text_of(typename Described<Rule>::O options, double learning_rate) {
  options.learning_rate = learning_rate;
  std::string list;
  for (const auto& field : Described<Rule>::kFields) {
    list += fmt::format("{}{}=", list.empty() ? "" : ", ", field.name);
    list += field.flag != nullptr ? fmt::format("{}", options.*field.flag) : fmt::format("{}", options.*field.number);
  }
  return fmt::format("{}({})", Described<Rule>::kName, list);
}

}  // namespace

std::unique_ptr<Optimizer> parse(Model& model, std::string_view text) {
  const CallText parts("optimizer", text);
  std::unique_ptr<Optimizer> result;
  std::vector<std::string_view> names;
  const auto consider = [&]<class... Rule>(const std::tuple<Rule...>*) {
    ((names.push_back(Described<Rule>::kName),
      result = parts.name == Described<Rule>::kName ? make<Rule>(model, parts) : std::move(result)),
     ...);
  };
  consider(static_cast<const Rules*>(nullptr));
  if (result == nullptr)
    parts.refuse(fmt::format("there is no optimizer \"{}\"{}", parts.name, suggestion_or_names(parts.name, names)));
  return result;
}

std::string Adadelta::to_string() const { return text_of<Adadelta>(options_, learning_rate()); }
std::string Adagrad::to_string() const { return text_of<Adagrad>(options_, learning_rate()); }
std::string Adam::to_string() const { return text_of<Adam>(options_, learning_rate()); }
std::string AdamW::to_string() const { return text_of<AdamW>(options_, learning_rate()); }
std::string Ftrl::to_string() const { return text_of<Ftrl>(options_, learning_rate()); }
std::string RmsProp::to_string() const { return text_of<RmsProp>(options_, learning_rate()); }
std::string Sgd::to_string() const { return text_of<Sgd>(options_, learning_rate()); }

}  // namespace espalier::optim
