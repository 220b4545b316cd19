#include "espalier/train/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "espalier/base/error.h"
#include "espalier/base/files.h"

namespace espalier::train {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_lock(const fs::path& path, int error) {
  throw ResourceError(fmt::format("cannot lock \"{}\": {}", path.string(), std::generic_category().message(error)));
}

/// What the owner wrote into the lock: "process 123"; or what can be said without it.
std::string owner_in(int file) {
  std::array<char, 64> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string("another process");
}

bool is_same_file(int file, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

/// The process that wrote a temporary file ".espalier-PID-NUMBER.tmp" (base/files.cc); 0 for other files.
int writer_of(const std::string& name) {
  constexpr std::string_view kPrefix = ".espalier-";
  if (!name.starts_with(kPrefix) || !name.ends_with(".tmp")) return 0;
  int process = 0;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), process);
  return process;
}

}  // namespace

RunFolder::RunFolder(fs::path folder) : folder_(std::move(folder)) {
  if (!exists()) return;
  checkpoint_ = folder_ / "checkpoint.safetensors";
  best_ = folder_ / "best.safetensors";
  lock_path_ = folder_ / "run.lock";
  made_ = !fs::exists(folder_);
  ensure_writable_folder(folder_);
  lock();
  remove_leftovers();
}

RunFolder::~RunFolder() {
  if (lock_ < 0) return;
  ::unlink(lock_path_.c_str());  // before another process can lock it: whoever opened it meanwhile opens it again
  ::close(lock_);
  if (made_) ::rmdir(folder_.c_str());
}

void RunFolder::lock() {
  for (;;) {
    const int file = ::open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) refuse_lock(lock_path_, errno);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string owner = owner_in(file);
      ::close(file);
      if (error != EWOULDBLOCK) refuse_lock(lock_path_, error);
      throw ResourceError(fmt::format("run folder \"{}\" is in use by {}: two runs cannot write to one folder",
                                      folder_.string(), owner));
    }
    if (is_same_file(file, lock_path_)) {
      lock_ = file;
      break;
    }
    ::close(file);  // its owner removed it between our two calls
  }
  // Only for messages: a full disk is no reason to refuse here.
  const std::string text = fmt::format("process {}", ::getpid());
  if (::ftruncate(lock_, 0) == 0 && ::pwrite(lock_, text.data(), text.size(), 0) < 0) errno = 0;
}

void RunFolder::remove_leftovers() const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const int process = writer_of(entry.path().filename().string());
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) ::unlink(entry.path().c_str());
  }
}

}  // namespace espalier::train
