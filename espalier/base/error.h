/// The exceptions of the library. The library never prints and never aborts: everything that goes wrong is one of
/// these.
///
/// The first line of what() is a sentence that survives alone in a log; further lines name the operands, where they
/// were made, and the instance.
#pragma once

#include <stdexcept>
#include <string>

#include "espalier/base/export.h"

namespace espalier {

class ESPALIER_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text);
};

/// The caller can fix it: a shape that does not fit, an Expr of a cleared graph, an unknown name.
class ESPALIER_EXPORT UsageError : public Error {
 public:
  using Error::Error;
};

/// Memory, files, disks.
class ESPALIER_EXPORT ResourceError : public Error {
 public:
  using Error::Error;
};

/// Data are not what was promised: an input file (the text starts with `file:line:column:` or `file:`), or an instance
/// that a model of blocks walks (the text ends with its number).
class ESPALIER_EXPORT DataError : public Error {
 public:
  using Error::Error;
};

/// A bug of our own; no input reaches it.
class ESPALIER_EXPORT InternalError : public Error {
 public:
  using Error::Error;
};

/// The function of a cell does what only a plain function may.
class ESPALIER_EXPORT CellError : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace espalier
