#include "espalier/train/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "espalier/base/crc32c.h"
#include "espalier/base/error.h"
#include "espalier/data/proto_writer.h"

namespace espalier::train {
namespace {

constexpr std::size_t kEventBuffer = std::size_t{1} << 14;

[[noreturn]] void refuse_events(const std::filesystem::path& path, int error) {
  throw ResourceError(fmt::format("cannot write \"{}\": {}", path.string(), std::generic_category().message(error)));
}

std::string little_endian(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

/// Sums are masked, since sums of data that have sums in them are weak.
std::string masked_sum(std::string_view bytes) {
  constexpr std::uint32_t kMask = 0xA282EAD8;
  const std::uint32_t sum = crc32c(bytes);
  return little_endian(((sum >> 15) | (sum << 17)) + kMask, 4);
}

// Fields of tensorflow.Event, Summary and those within.
data::ProtoWriter event_at(double now, std::int64_t step) {
  data::ProtoWriter event;
  event.number(1, now);
  if (step != 0) event.integer(2, step);
  return event;
}

data::ProtoWriter summary_of(const data::ProtoWriter& value) { return data::ProtoWriter().message(1, value); }

}  // namespace

std::string tf_record(std::string_view content) {
  const std::string length = little_endian(content.size(), 8);
  return length + masked_sum(length) + std::string(content) + masked_sum(content);
}

std::string event_file_name(double now) {
  // Ten digits of seconds, then microseconds, so that names order files by time.
  return fmt::format("events.out.tfevents.{:017.6f}.espalier", now);
}

EventFile::EventFile(const std::filesystem::path& path, double now) : path_(path) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) refuse_events(path_, errno);
  record(event_at(now, 0).bytes(3, "brain.Event:2").finish());  // the version of the format
}

EventFile::~EventFile() {
  try {
    flush();
  } catch (const Error&) {
    // A destructor has nobody to tell; callers that must know flush first.
  }
  if (file_ >= 0) ::close(file_);
}

void EventFile::scalar(std::string_view tag, double value, std::int64_t step, double now) {
  data::ProtoWriter entry;
  entry.bytes(1, tag).number(2, static_cast<float>(value));
  record(event_at(now, step).message(5, summary_of(entry)).finish());
}

void EventFile::text(std::string_view tag, std::string_view markdown, std::int64_t step, double now) {
  constexpr std::int64_t kString = 7;  // DT_STRING
  data::ProtoWriter plugin;
  plugin.bytes(1, "text");
  data::ProtoWriter metadata;
  metadata.message(1, plugin);
  data::ProtoWriter tensor;
  tensor.integer(1, kString).bytes(2, "").bytes(8, markdown);  // of an empty shape
  data::ProtoWriter entry;
  entry.bytes(1, tag).message(8, tensor).message(9, metadata);
  record(event_at(now, step).message(5, summary_of(entry)).finish());
}

void EventFile::restart(std::int64_t step, double now) {
  constexpr std::int64_t kStart = 1;  // SessionLog.START
  record(event_at(now, step).message(7, data::ProtoWriter().integer(1, kStart)).finish());
}

void EventFile::record(std::string_view event) {
  buffer_ += tf_record(event);
  if (buffer_.size() >= kEventBuffer) flush();
}

void EventFile::flush() {
  if (file_ < 0) return buffer_.clear();
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      ::close(std::exchange(file_, -1));  // part of a record may be in the file: nothing can follow
      refuse_events(path_, error);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

}  // namespace espalier::train
