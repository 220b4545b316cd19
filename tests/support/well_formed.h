/// Whether a text is well-formed XML, as far as a picture needs it: tags that close, attributes in quotes, no stray
/// signs.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::testing {

namespace detail {

/// ` name="value"` any number of times. What is wrong, or "".
inline std::string attributes_problem(std::string_view text) {
  std::size_t at = 0;
  const auto skip_spaces = [&] {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  };
  for (skip_spaces(); at < text.size(); skip_spaces()) {
    const std::size_t equals = text.find("=\"", at);
    const std::size_t end = equals == std::string_view::npos ? equals : text.find('"', equals + 2);
    if (end == std::string_view::npos) return "an attribute without a value in quotes: " + std::string(text.substr(at));
    if (text.substr(at, equals - at).find_first_of(" <&") != std::string_view::npos)
      return "an attribute with a name that is none: " + std::string(text.substr(at, equals - at));
    at = end + 1;
  }
  return "";
}

}  // namespace detail

/// What is wrong with it, or "" if nothing is.
inline std::string xml_problem(std::string_view text) {
  std::vector<std::string> open;
  bool had_root = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t tag = text.find('<', at);
    const std::string_view between = text.substr(at, tag - at);
    if (between.find('>') != std::string_view::npos) return "a stray '>' in: " + std::string(between);
    if (open.empty() && between.find_first_not_of(" \n") != std::string_view::npos) return "text outside the root";
    if (tag == std::string_view::npos) break;
    const std::size_t end = text.find('>', tag);
    if (end == std::string_view::npos) return "a tag that does not end";
    std::string_view inside = text.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return "a tag that closes nothing: " + std::string(inside);
      open.pop_back();
      continue;
    }
    if (open.empty() && had_root) return "a second root: " + std::string(inside);
    had_root = true;
    const bool closes_itself = inside.ends_with('/');
    if (closes_itself) inside.remove_suffix(1);
    const std::size_t name_end = std::min(inside.find_first_of(" \n"), inside.size());
    if (const std::string problem = detail::attributes_problem(inside.substr(name_end)); !problem.empty())
      return problem;
    if (!closes_itself) open.emplace_back(inside.substr(0, name_end));
  }
  if (!open.empty()) return "a tag that is not closed: " + open.back();
  return had_root ? "" : "no tag at all";
}

}  // namespace espalier::testing
