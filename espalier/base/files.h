/// Whole-file reading and all-or-nothing writing: a file is either complete or as it was before.
///
/// Every error is a ResourceError of one sentence with the path and the system's reason, as in
/// `cannot write "run/weights.safetensors": No space left on device`.
///
/// Thread safety: functions may be called from any thread; one AtomicFile belongs to one thread at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier {

/// The bytes of the file.
ESPALIER_EXPORT std::string read_file(const std::filesystem::path& path);

/// A file that appears under its name only when it is complete.
///
/// Bytes go to a temporary file in the same folder. commit() flushes, syncs and renames it over the target; destruction
/// without commit(), or any error, removes the temporary file and leaves the target as it was. A symbolic link is
/// followed and kept; the permissions of an existing target are kept. A target that is a device or a pipe
/// (`/dev/stdout`) cannot be replaced and is written in place; a write-protected one is refused.
class ESPALIER_EXPORT AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends. After an error nothing more can be written.
  void write(std::string_view bytes);
  /// Makes the file visible under its name. Call once, last.
  void commit();

 private:
  void flush();
  void drop() noexcept;
  [[noreturn]] void refuse(int error);

  std::filesystem::path path_;       // as the caller wrote it, for messages
  std::filesystem::path target_;     // with links followed
  std::filesystem::path temporary_;  // empty when the target is written in place
  std::string buffer_;
  int file_ = -1;
};

ESPALIER_EXPORT void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Makes the folder (and those above it) if missing and proves, by writing a small file and removing it, that files can
/// be made there. An empty path is the current folder. For use before hours of work whose result goes there.
ESPALIER_EXPORT void ensure_writable_folder(const std::filesystem::path& folder);

/// The same for the folder of a file that will be written; also refuses a folder and a write-protected file.
ESPALIER_EXPORT void ensure_writable_file(const std::filesystem::path& path);

}  // namespace espalier
