/// "name(option=value, ...)", as configuration files and command lines name optimizers and schedules. Internal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::optim {

/// The parts of such a text; the parentheses are optional. A view: the text must outlive it.
class CallText {
 public:
  struct Option {
    std::string_view name;
    std::string_view value;
  };

  /// `kind` is what messages call it. Refuses (UsageError) what is not of that form, and an option that is given twice.
  /// `lr` is short for `learning_rate`.
  CallText(std::string_view kind, std::string_view text);

  /// Refuse (UsageError) another value.
  double number(const Option& option) const;
  bool flag(const Option& option) const;
  [[noreturn]] void refuse(const std::string& sentence) const;

  std::string_view name;
  std::vector<Option> options;

 private:
  void add(std::string_view part);

  std::string_view kind_;
  std::string_view text_;
};

}  // namespace espalier::optim
