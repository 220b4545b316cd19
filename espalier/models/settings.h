/// Settings: the numbers and choices of a model under the names by which flags, files and runs know them.
///
/// A struct of settings lists its members once, and gets flags, files and help from that list:
///
///   struct TaggerSettings {
///     std::int32_t hidden = 64;
///     void list(SettingList& list) { list.add("hidden", hidden, "size of the state in each direction", 1); }
///   };
///
/// Thread safety: like a std::vector.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/value.h"

namespace espalier::models {

/// A member of a struct of settings, which must outlive it.
struct ESPALIER_EXPORT Setting {
  std::string name;
  std::string help;
  std::variant<bool*, std::int32_t*, double*, std::string*> target;
  double least = -std::numeric_limits<double>::infinity();  // of numbers
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices{};  // of a text; empty: any text

  /// As a Value: true, 64, 0.5, "tree_lstm".
  Value value() const;
  /// Refuses (UsageError) another kind of value, a number out of range and a text that is no choice.
  void assign(const Value& value) const;
  /// The same from a text, as a flag gives it.
  void assign_text(std::string_view text) const;
};

class ESPALIER_EXPORT SettingList {
 public:
  void add(std::string name, bool& target, std::string help);
  void add(std::string name, std::int32_t& target, std::string help, std::int32_t least,
           std::int32_t most = std::numeric_limits<std::int32_t>::max());
  void add(std::string name, double& target, std::string help, double least, double most);
  void add(std::string name, std::string& target, std::string help, std::vector<std::string> choices = {});

  const std::vector<Setting>& all() const { return settings_; }
  /// Refuses (UsageError), with the nearest name, one that is not there.
  const Setting& at(std::string_view name) const;
  /// Null if it is not there.
  const Setting* find(std::string_view name) const;

  /// All, as a map in the order of the list.
  Value to_value() const;
  /// Assigns the entries of a map. Refuses (UsageError) anything but a map, an unknown name, and what assign() refuses.
  void assign(const Value& map) const;

 private:
  std::vector<Setting> settings_;
};

/// The list of a struct of settings, which must outlive it.
template <class Settings>
SettingList settings_of(Settings& settings) {
  SettingList list;
  settings.list(list);
  return list;
}

}  // namespace espalier::models
