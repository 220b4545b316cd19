/// Values from s-expressions: Lisp's notation, and the trees in brackets of treebanks.
///
/// Thread safety: functions may be called from any thread; a ValueStream belongs to one thread at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "espalier/base/export.h"
#include "espalier/data/value.h"
#include "espalier/data/value_stream.h"

namespace espalier::data {

enum class SexprForm {
  /// (plus 1 -2.5 "a string" (nested)) ; a comment, up to the end of the line
  ///
  /// An atom is an integer if it is a sign or none and digits, a float if it has also a point or an exponent, and else
  /// a symbol, which becomes a string: `-`, `1+`, `nil`, `inf`, `'x`. A string in quotes becomes a string too; there
  /// \n, \t, \r, \" and \\ have their usual meaning, \xNN is any byte, and line breaks may stand as they are.
  kLisp,
  /// (3 (2 word) (2 1997)), as the Penn Treebank and the sentiment treebank have them.
  ///
  /// An atom is any text without brackets and spaces: quotes, semicolons and backslashes are part of it. It becomes a
  /// string; only the first atom after a "(", the label, becomes an integer if it is one.
  kTrees,
};

/// The one expression in the text. `source` names the text in errors.
///
/// Refuses (DataError, "source:line:column: expected ..., not ...") what is not one expression. Nesting is limited by
/// memory only.
ESPALIER_EXPORT Value parse_sexpr(std::string_view text, SexprForm form = SexprForm::kLisp,
                                  std::string_view source = "expression");

/// All expressions in the text, one after the other.
ESPALIER_EXPORT ValueStream parse_sexprs(std::string text, SexprForm form = SexprForm::kLisp,
                                         std::string_view source = "expression");

/// All expressions in a file, plain or gzip, each read when it is asked for. Refuses (ResourceError) a file that cannot
/// be read.
ESPALIER_EXPORT ValueStream read_sexprs(const std::filesystem::path& path, SexprForm form = SexprForm::kLisp);

/// The Value in Lisp's notation, which reads back as the same Value. Refuses (UsageError) what the notation lacks:
/// null, bools, maps, and floats that are not finite.
ESPALIER_EXPORT std::string sexpr_text(const Value& value);

}  // namespace espalier::data
