/// What every fuzz target uses: which outcomes are fine, and inputs as files.
///
/// A target is a function `void NAME(std::string_view input)` in fuzz/targets/NAME.cc. An input may be refused with any
/// espalier::Error but an InternalError. Whatever else happens is a finding: another exception, a check that does not
/// hold, a report of a sanitizer, too much time or memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::fuzz {

/// A property that does not hold. Nobody catches it, so it ends the run.
struct Finding : std::logic_error {
  using std::logic_error::logic_error;
};

inline void check(bool holds, const char* property) {
  if (!holds) throw Finding(property);
}

/// Runs the action and returns whether the library accepted what it got. Also checks that an error is fit for a
/// terminal and a log: it says something, in UTF-8, without control characters.
bool accepts(const std::function<void()>& action);

/// Text that reads back as the same: `text_of` writes what `parse` made of a text.
template <class Parse, class TextOf>
void check_round_trip(std::string_view text, const Parse& parse, const TextOf& text_of) {
  accepts([&] {
    const auto first = parse(text);
    const std::string written = text_of(first);
    const auto second = parse(written);
    check(text_of(second) == written, "a text that was written reads back as the same");
    if constexpr (requires { first == second; }) check(first == second, "what was written reads back as the same");
  });
}

/// The parts of an input between lines that are "====": at least `count`, the last ones empty.
std::vector<std::string> parts_of(std::string_view input, std::size_t count);

/// The lines of an input, without their ends.
std::vector<std::string_view> lines_of(std::string_view input);

/// A file that is in memory only. It has a path while it lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// A folder for temporary files, which is removed when the program ends.
const std::filesystem::path& temporary_folder();

/// Writes a file in the temporary folder, without waiting for the disk, and returns its path.
std::filesystem::path temporary_file(std::string_view name, std::string_view bytes);

/// A safetensors file: the first line of the input, whose length the file begins with, and the rest as data.
std::string safetensors_of(std::string_view input);

}  // namespace espalier::fuzz
