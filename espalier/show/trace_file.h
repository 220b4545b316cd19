/// Trace files: a Trace in the format that Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include <filesystem>
#include <string>

#include "espalier/base/export.h"
#include "espalier/base/trace.h"

namespace espalier {

/// JSON in the Trace Event Format: a complete event per span, by thread, and a counter of the bytes in use.
ESPALIER_EXPORT std::string trace_text(const Trace& trace);
/// The same as a file. Refuses (ResourceError) what cannot be written.
ESPALIER_EXPORT void write_trace(const Trace& trace, const std::filesystem::path& file);

}  // namespace espalier
