/// The line of Python code that is running: what the library's messages name.
#pragma once

#include "espalier/base/source_line.h"

namespace espalier::python {

/// The innermost line that is not in the package itself. The file's name is kept for as long as the process lives, so
/// that graphs can remember it. Costs a few nanoseconds for a line that was seen before.
SourceLine caller();

/// Frames of files below this folder are passed over: the package's own.
void set_package_folder(const char* folder);

}  // namespace espalier::python
