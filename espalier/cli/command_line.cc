#include "espalier/cli/command_line.h"

#include <algorithm>
#include <cctype>

namespace espalier::cli {
namespace {

/// A word as a shell reads it.
std::string quoted_for_shell(const std::string& word) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("-_./=:,+@%").find(static_cast<char>(c)) != std::string::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string command_line_of(const CLI::App& command, const std::string& left_out) {
  std::string text = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent != nullptr; parent = parent->get_parent())
    text.insert(0, parent->get_name() + " ");
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == left_out) continue;
    if (name.starts_with('-')) text += " " + name;
    if (option->get_items_expected_max() == 0) continue;  // a flag
    for (const std::string& value : option->results()) text += " " + quoted_for_shell(value);
  }
  return text;
}

}  // namespace espalier::cli
