#include "espalier/data/sexpr_atom.h"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace espalier::data {
namespace {

// Takes digits from the front of the text; how many.
std::size_t take_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

bool take_one_of(std::string_view& text, std::string_view letters) {
  if (text.empty() || letters.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

SexprAtom sexpr_atom(std::string_view atom) {
  take_one_of(atom, "+-");
  std::size_t digits = take_digits(atom);
  if (digits > 0 && atom.empty()) return SexprAtom::kInteger;
  if (take_one_of(atom, ".")) digits += take_digits(atom);
  if (digits == 0) return SexprAtom::kSymbol;
  if (take_one_of(atom, "eE")) {
    take_one_of(atom, "+-");
    if (take_digits(atom) == 0) return SexprAtom::kSymbol;
  }
  return atom.empty() ? SexprAtom::kFloat : SexprAtom::kSymbol;
}

std::optional<Value> sexpr_number(std::string_view atom, SexprAtom kind) {
  if (atom.starts_with('+')) atom.remove_prefix(1);  // std::from_chars knows no plus
  const auto parse = [&](auto number) -> std::optional<Value> {
    const bool fits = std::from_chars(atom.data(), atom.data() + atom.size(), number).ec == std::errc();
    return fits ? std::optional<Value>(number) : std::nullopt;
  };
  return kind == SexprAtom::kInteger ? parse(std::int64_t{0}) : parse(0.0);
}

}  // namespace espalier::data
