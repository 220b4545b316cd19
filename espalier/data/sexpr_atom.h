/// What an atom of an s-expression is, for the reader and the writer.
#pragma once

#include <optional>
#include <string_view>

#include "espalier/data/value.h"

namespace espalier::data {

inline constexpr std::string_view kSexprSpace = " \t\n\r\f\v";

enum class SexprAtom { kInteger, kFloat, kSymbol };

/// What an atom without quotes looks like.
SexprAtom sexpr_atom(std::string_view atom);

/// The number that an atom of that kind is; nothing if it does not fit.
std::optional<Value> sexpr_number(std::string_view atom, SexprAtom kind);

}  // namespace espalier::data
