#include "espalier/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_path(std::string_view action, const fs::path& path, int error) {
  throw ResourceError(fmt::format("cannot {} \"{}\": {}", action, path.string(), reason(error)));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int open_retrying(const fs::path& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

struct Temporary {
  fs::path path;
  int file;  // -1: errno tells why
};

// open() rather than mkstemp(), so that the process's umask decides the permissions as for any other file. The name
// does not contain the target's, which may already be as long as a name can be.
Temporary make_temporary(const fs::path& folder) {
  static std::atomic<std::uint64_t> counter{0};
  for (;;) {
    fs::path path = folder / fmt::format(".espalier-{}-{}.tmp", ::getpid(), counter++);
    const int file = open_retrying(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file >= 0 || errno != EEXIST) return {std::move(path), file};
  }
}

// 0, or the error that stopped it.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// 0, or the error. Pipes and some devices cannot be synced, which is no fault of theirs.
int sync(int file) {
  if (::fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS) return 0;
  return errno;
}

// The file itself is complete and in place by now; syncing its folder only makes the new name survive a power cut, and
// not every file system can.
void sync_folder(const fs::path& folder) {
  const FileDescriptor file(open_retrying(folder, O_RDONLY | O_DIRECTORY));
  if (file.get() >= 0) ::fsync(file.get());
}

}  // namespace

std::string read_file(const fs::path& path) {
  const FileDescriptor file(open_retrying(path, O_RDONLY));
  if (file.get() < 0) refuse_path("read", path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) refuse_path("read", path, errno);
  try {
    std::string bytes;
    // One byte more than the size, so that a file that does not grow is read without a second allocation.
    std::size_t room = S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) + 1 : kBufferBytes;
    std::size_t used = 0;
    for (;;) {
      bytes.resize(used + room);
      const ssize_t count = ::read(file.get(), bytes.data() + used, room);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) refuse_path("read", path, errno);
      if (count == 0) break;
      used += static_cast<std::size_t>(count);
      room = bytes.size() > used ? bytes.size() - used : std::max(used, kBufferBytes);
    }
    bytes.resize(used);
    return bytes;
  } catch (const std::bad_alloc&) {
    refuse_path("read", path, ENOMEM);
  } catch (const std::length_error&) {
    refuse_path("read", path, EFBIG);
  }
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), target_(path_) {
  if (path_.empty()) refuse_path("write", path_, ENOENT);
  struct stat info {};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) refuse_path("write", path_, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    file_ = open_retrying(target_, O_WRONLY);
    if (file_ < 0) refuse_path("write", path_, errno);
    return;
  }
  // Renaming would replace a write-protected file without a word.
  if (exists && ::access(target_.c_str(), W_OK) != 0) refuse_path("write", path_, errno);
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path_, error))) {
    target_ = exists ? fs::canonical(path_, error) : folder_of(path_) / fs::read_symlink(path_, error);
    if (error) refuse_path("write", path_, error.value());
  }
  Temporary made = make_temporary(folder_of(target_));
  if (made.file < 0) refuse_path("write", path_, errno);
  temporary_ = std::move(made.path);
  file_ = made.file;
  // Where the file system has no permissions to keep, the default ones do.
  if (exists && ::fchmod(file_, info.st_mode & 07777) != 0) errno = 0;
}

AtomicFile::~AtomicFile() { drop(); }

void AtomicFile::write(std::string_view bytes) {
  if (file_ < 0) throw UsageError(fmt::format("AtomicFile: \"{}\" is already closed", path_.string()));
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() < kBufferBytes) {
    buffer_.append(bytes);
  } else if (const int error = write_all(file_, bytes); error != 0) {
    refuse(error);
  }
}

void AtomicFile::commit() {
  if (file_ < 0) throw UsageError(fmt::format("AtomicFile: \"{}\" is already closed", path_.string()));
  flush();
  if (const int error = sync(file_); error != 0) refuse(error);
  // Some file systems (NFS, quotas) report a full disk only here.
  if (::close(std::exchange(file_, -1)) != 0 && errno != EINTR) refuse(errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) refuse(errno);
  temporary_.clear();
  sync_folder(folder_of(target_));
}

void AtomicFile::flush() {
  if (const int error = write_all(file_, buffer_); error != 0) refuse(error);
  buffer_.clear();
}

void AtomicFile::refuse(int error) {
  drop();
  refuse_path("write", path_, error);
}

void AtomicFile::drop() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void ensure_writable_folder(const fs::path& folder) {
  const fs::path where = folder.empty() ? fs::path(".") : folder;
  std::error_code error;
  fs::create_directories(where, error);
  if (error) refuse_path("make folder", where, error.value());
  if (!fs::is_directory(where, error)) refuse_path("make folder", where, error ? error.value() : ENOTDIR);

  const Temporary made = make_temporary(where);
  if (made.file < 0) refuse_path("write into folder", where, errno);
  // An empty file can be made on a full disk; a block of bytes cannot.
  constexpr std::array<char, 4096> kBlock{};
  int problem = write_all(made.file, {kBlock.data(), kBlock.size()});
  if (problem == 0) problem = sync(made.file);
  if (::close(made.file) != 0 && problem == 0) problem = errno;
  ::unlink(made.path.c_str());
  if (problem != 0) refuse_path("write into folder", where, problem);
}

void ensure_writable_file(const fs::path& path) {
  struct stat info {};
  if (path.empty()) refuse_path("write", path, ENOENT);
  if (!path.has_filename()) refuse_path("write", path, EISDIR);
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) refuse_path("write", path, EISDIR);
    // access(), because opening a pipe waits for its reader.
    if (::access(path.c_str(), W_OK) != 0) refuse_path("write", path, errno);
    if (!S_ISREG(info.st_mode)) return;
  }
  ensure_writable_folder(path.parent_path());
}

}  // namespace espalier
