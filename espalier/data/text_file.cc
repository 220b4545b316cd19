#include "espalier/data/text_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>

#include "espalier/base/files.h"

namespace espalier::data {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 17;

}  // namespace

class TextWriter::Sink {
 public:
  explicit Sink(const std::filesystem::path& path) : file_(path), compressed_(path.extension() == ".gz") {
    if (!compressed_) return;
    // The largest window (15) with a gzip header (16), which has no name and no time: same text, same bytes.
    constexpr int kGzip = 15 + 16;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
    output_.resize(kBufferBytes);
  }
  ~Sink() {
    if (compressed_) deflateEnd(&stream_);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void write(std::string_view text) {
    if (!compressed_) return file_.write(text);
    constexpr std::size_t kPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
    for (; !text.empty(); text.remove_prefix(std::min(kPiece, text.size())))
      compress(text.substr(0, kPiece), Z_NO_FLUSH);
  }
  void commit() {
    if (compressed_) compress({}, Z_FINISH);
    file_.commit();
  }

 private:
  void compress(std::string_view text, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      deflate(&stream_, flush);
      file_.write(std::string_view(output_).substr(0, output_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

  AtomicFile file_;
  bool compressed_;
  z_stream stream_{};
  std::string output_;
};

TextWriter::TextWriter(const std::filesystem::path& path) : sink_(std::make_unique<Sink>(path)) {}
TextWriter::~TextWriter() = default;
void TextWriter::write(std::string_view text) { sink_->write(text); }
void TextWriter::commit() { sink_->commit(); }

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 24;
  std::string result = "\"";
  for (const char c : text.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  result += text.size() > kLongest ? "...\"" : "\"";
  return result;
}

}  // namespace espalier::data
