#include "espalier/data/byte_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "espalier/base/error.h"

namespace espalier::data {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 17;

[[noreturn]] void refuse_reading(std::string_view name, int error) {
  throw ResourceError(fmt::format("cannot read \"{}\": {}", name, std::generic_category().message(error)));
}

}  // namespace

bool has_ending(std::string_view file, std::initializer_list<std::string_view> endings) {
  if (file.ends_with(".gz")) file.remove_suffix(3);
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view one) { return file.ends_with(one); });
}

Input Input::text(std::string text, std::string name) {
  Input input(std::filesystem::path(std::move(name)));
  input.text_ = std::move(text);
  input.in_memory_ = true;
  return input;
}

ByteReader::ByteReader(Input input) : name_(input.name()), text_(std::move(input.text_)) {
  if (input.in_memory_) return;
  // Opened here, because gzopen() does not always tell why it could not.
  const std::filesystem::path& path = input.path_;
  const int file = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) refuse_reading(name_, errno);
  stream_ = gzdopen(file, "rb");
  if (stream_ == nullptr) {
    ::close(file);
    throw std::bad_alloc();
  }
  gzbuffer(stream_, kPieceBytes);
}

ByteReader::~ByteReader() {
  if (stream_ != nullptr) gzclose_r(stream_);
}

std::size_t ByteReader::read(char* bytes, std::size_t room) {
  if (stream_ == nullptr) {
    const std::size_t count = text_.copy(bytes, room, used_);
    used_ += count;
    return count;
  }
  const int count = gzread(stream_, bytes, static_cast<unsigned>(room));
  if (count > 0) return static_cast<std::size_t>(count);
  const int system_error = errno;
  int error = Z_OK;
  gzerror(stream_, &error);
  switch (error) {
    case Z_OK:
    case Z_STREAM_END: return 0;
    case Z_ERRNO: refuse_reading(name_, system_error);
    case Z_MEM_ERROR: throw std::bad_alloc();
    case Z_BUF_ERROR: throw DataError(fmt::format("{}: expected a whole gzip stream, but it ends early", name_));
    default: throw DataError(fmt::format("{}: expected a gzip stream, but it is damaged", name_));
  }
}

bool ByteReader::read_piece(std::string& buffer) {
  // A short text is not worth a large buffer: some readers are made for one record.
  buffer.resize(stream_ == nullptr ? std::min(kPieceBytes, text_.size() - used_) : kPieceBytes);
  buffer.resize(read(buffer.data(), buffer.size()));
  return !buffer.empty();
}

std::string read_bytes(Input input) {
  ByteReader reader(std::move(input));
  std::string bytes;
  std::string piece;
  while (reader.read_piece(piece)) bytes += piece;
  return bytes;
}

}  // namespace espalier::data
