#include "fuzz/input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "espalier/base/error.h"
#include "espalier/data/utf8.h"

namespace espalier::fuzz {
namespace {

/// A folder that goes with the program.
class OwnFolder {
 public:
  OwnFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "espalier-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
    path_ = pattern;
  }
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F; }

}  // namespace

bool accepts(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    const std::string_view text = error.what();
    if (text.empty() || !data::is_utf8(text) || std::any_of(text.begin(), text.end(), is_control))
      throw Finding("the text of an error is not fit for a terminal: " + std::string(text));
    return false;
  }
}

std::vector<std::string_view> lines_of(std::string_view input) {
  std::vector<std::string_view> lines;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    lines.push_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return lines;
}

std::vector<std::string> parts_of(std::string_view input, std::size_t count) {
  std::vector<std::string> parts(1);
  for (const std::string_view line : lines_of(input)) {
    if (line == "====")
      parts.emplace_back();
    else
      parts.back().append(line).append("\n");
  }
  parts.resize(std::max(parts.size(), count));
  return parts;
}

MemoryFile::MemoryFile(std::string_view bytes) : file_(::memfd_create("input", MFD_CLOEXEC)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  while (!bytes.empty()) {
    const ::ssize_t count = ::write(file_, bytes.data(), bytes.size());
    if (count < 0) throw std::system_error(errno, std::generic_category(), "a file in memory");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

MemoryFile::~MemoryFile() { ::close(file_); }

const std::filesystem::path& temporary_folder() {
  static const OwnFolder folder;
  return folder.path();
}

std::filesystem::path temporary_file(std::string_view name, std::string_view bytes) {
  std::filesystem::path path = temporary_folder() / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string safetensors_of(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  std::string file;
  for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i)
    file += static_cast<char>(static_cast<std::uint64_t>(end) >> (8 * i) & 0xFF);
  return file.append(input.substr(0, end)).append(input.substr(std::min(end + 1, input.size())));
}

}  // namespace espalier::fuzz

// RDKit does not free what it made of some files that it refuses.
// NOLINTNEXTLINE(readability-identifier-naming): the leak sanitizer looks for this name, in any program
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() { return "leak:libRDKit"; }
