/// EventFile: a file of scalars and texts that TensorBoard reads.
///
/// The file is a sequence of TFRecords, each the length of a message, the message, and masked CRC-32C sums of both;
/// messages are tensorflow.Event (tensorflow/core/util/event.proto, lib/io/record_writer.cc of TensorFlow). A file that
/// is cut off, as by a kill, is read up to its last whole record.
///
/// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "espalier/base/export.h"

namespace espalier::train {

class ESPALIER_EXPORT EventFile {
 public:
  /// Makes the file and writes that it begins. Times are in seconds since 1970.
  EventFile(const std::filesystem::path& path, double now);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void scalar(std::string_view tag, double value, std::int64_t step, double now);
  /// Markdown, as TensorBoard's Text tab shows it.
  void text(std::string_view tag, std::string_view markdown, std::int64_t step, double now);
  /// What other files of this folder say about this step and later ones no longer holds: a run was resumed.
  void restart(std::int64_t step, double now);

  /// Records reach the file in blocks, and at the latest here. Refuses (ResourceError) if they cannot be written;
  /// after that nothing more is written.
  void flush();

 private:
  void record(std::string_view event);

  std::filesystem::path path_;
  std::string buffer_;
  int file_ = -1;
};

/// The bytes of a record with this content.
ESPALIER_EXPORT std::string tf_record(std::string_view content);

/// The name of a file of a run that begins now, as TensorBoard expects it. It orders files by these names.
ESPALIER_EXPORT std::string event_file_name(double now);

}  // namespace espalier::train
