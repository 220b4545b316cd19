/// Files as bytes: the input as it is, and compressed by ourselves, whole and cut off.
#include <zlib.h>

#include "espalier/data/byte_file.h"
#include "fuzz/input.h"

namespace espalier::fuzz {
namespace {

std::string compressed(std::string_view text) {
  ::z_stream stream{};
  const int gzip_header = 16;
  check(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + gzip_header, 8, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib");
  std::string bytes(deflateBound(&stream, static_cast<::uLong>(text.size())), '\0');
  std::string copy(text);
  stream.next_in = reinterpret_cast<::Bytef*>(copy.data());
  stream.avail_in = static_cast<::uInt>(copy.size());
  stream.next_out = reinterpret_cast<::Bytef*>(bytes.data());
  stream.avail_out = static_cast<::uInt>(bytes.size());
  check(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

}  // namespace

void gzip(std::string_view input) {
  accepts([&] { data::read_bytes(MemoryFile(input).path()); });
  const std::string bytes = compressed(input);
  check(data::read_bytes(MemoryFile(bytes).path()) == input, "what was compressed is read as it was");
  check(data::read_bytes(MemoryFile(bytes + bytes).path()) == std::string(input) + std::string(input),
        "streams may follow one another");
  const std::size_t cut = input.size() % bytes.size();
  const std::string_view begin = std::string_view(bytes).substr(0, cut);
  check(cut < 2 || !accepts([&] { data::read_bytes(MemoryFile(begin).path()); }),
        "a stream that is cut off is refused");
}

}  // namespace espalier::fuzz
