#include "espalier/data/proto.h"

#include <fmt/format.h>
#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <limits>
#include <string>

#include "espalier/base/error.h"
#include "espalier/data/byte_file.h"
#include "espalier/data/proto_decode.h"
#include "espalier/data/proto_delimited.h"
#include "espalier/data/proto_schema.h"

namespace espalier::data {
namespace {

namespace pb = google::protobuf;

/// Mistakes, one a line, as "name:line:column: message", with numbers from 1. protobuf counts from 0, and gives -1
/// where a mistake is of the whole file.
class Mistakes {
 public:
  void add(std::string_view name, int line, int column, std::string_view message) {
    if (!text_.empty()) text_ += '\n';
    text_ += line < 0 ? fmt::format("{}: {}", name, message)
                      : fmt::format("{}:{}:{}: {}", name, line + 1, column + 1, message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class FileMistakes final : public pb::compiler::MultiFileErrorCollector {
 public:
  explicit FileMistakes(pb::compiler::DiskSourceTree& files) : files_(files) {}

  void AddError(const std::string& name, int line, int column, const std::string& message) override {
    std::string path;
    mistakes_.add(files_.VirtualFileToDiskFile(name, &path) ? path : name, line, column, message);
  }
  const std::string& text() const { return mistakes_.text(); }

 private:
  pb::compiler::DiskSourceTree& files_;
  Mistakes mistakes_;
};

class TextMistakes final : public pb::io::ErrorCollector {
 public:
  explicit TextMistakes(std::string_view source) : source_(source) {}

  void AddError(int line, int column, const std::string& message) override {
    mistakes_.add(source_, line, column, message);
  }
  const std::string& text() const { return mistakes_.text(); }

 private:
  std::string_view source_;
  Mistakes mistakes_;
};

// Maps the folders into the tree of files that imports are looked for in; the name of `file` in it.
std::string add_folders(pb::compiler::DiskSourceTree& files, const std::filesystem::path& file,
                        const std::vector<std::filesystem::path>& folders) {
  for (const std::filesystem::path& folder : folders) files.MapPath("", folder.string());
  std::string name;
  std::string hidden_by;
  if (files.DiskFileToVirtualFile(file.string(), &name, &hidden_by) == pb::compiler::DiskSourceTree::SUCCESS)
    return name;
  // Outside all of them: its own folder is then the last.
  files.MapPath("", file.has_parent_path() ? file.parent_path().string() : ".");
  return file.filename().string();
}

}  // namespace

/// The descriptors of a `.proto` file, and what is made from them.
class ProtoReader::Types {
 public:
  Types(const std::filesystem::path& file, std::string_view message, const ProtoOptions& options)
      : name_(add_folders(files_, file, options.include_folders)), mistakes_(files_) {
    const pb::LogSilencer silent;            // a library does not print
    const ByteReader readable{Input(file)};  // else it is refused here, with the reason
    database_.RecordErrorsTo(&mistakes_);
    const pb::FileDescriptor* descriptors = pool_.FindFileByName(name_);
    if (descriptors == nullptr) throw DataError(mistakes_.text());
    root_ = pool_.FindMessageTypeByName(std::string(message));
    if (root_ == nullptr)
      throw UsageError(
          fmt::format("{} has no message \"{}\"; it has {}", file.string(), message, messages_of(*descriptors)));
    schema_ = std::make_unique<ProtoSchema>(*root_);
  }

  Value decode(std::string_view bytes, std::string_view source) const {
    return decode_proto(schema_->root(), bytes, source);
  }

  Value decode_text(std::string_view text, std::string_view source) const {
    constexpr int kDeepest = 1000;  // protobuf recurses here
    if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw DataError(fmt::format("{}: expected at most 2 GiB of text, not {} bytes", source, text.size()));
    const pb::LogSilencer silent;
    pb::DynamicMessageFactory factory;
    const std::unique_ptr<pb::Message> message(factory.GetPrototype(root_)->New());
    TextMistakes mistakes(source);
    pb::TextFormat::Parser parser;
    parser.RecordErrorsTo(&mistakes);
    parser.SetRecursionLimit(kDeepest);
    pb::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
    if (!parser.Parse(&stream, message.get())) throw DataError(mistakes.text());
    return decode(message->SerializeAsString(), source);
  }

 private:
  static std::string messages_of(const pb::FileDescriptor& file) {
    std::string names;
    for (int i = 0; i < file.message_type_count(); ++i)
      names += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", file.message_type(i)->full_name());
    return names.empty() ? "none" : names;
  }

  pb::compiler::DiskSourceTree files_;
  std::string name_;
  FileMistakes mistakes_;
  pb::DescriptorPoolDatabase own_files_{*pb::DescriptorPool::generated_pool()};
  pb::compiler::SourceTreeDescriptorDatabase database_{&files_, &own_files_};
  pb::DescriptorPool pool_{&database_, database_.GetValidationErrorCollector()};
  const pb::Descriptor* root_ = nullptr;
  std::unique_ptr<ProtoSchema> schema_;
};

ProtoReader::ProtoReader(const std::filesystem::path& proto_file, std::string_view message, const ProtoOptions& options)
    : types_(std::make_shared<Types>(proto_file, message, options)) {}

Value ProtoReader::read(std::string_view bytes, std::string_view source) const { return types_->decode(bytes, source); }

Value ProtoReader::read_text(std::string_view text, std::string_view source) const {
  return types_->decode_text(text, source);
}

ValueStream ProtoReader::read_delimited(const std::filesystem::path& path) const {
  struct State {
    explicit State(const std::filesystem::path& file_path) : file(file_path) {}
    ProtoDelimitedFile file;
    std::string bytes;
  };
  return ValueStream([types = types_, state = std::make_shared<State>(path)]() -> std::optional<Value> {
    if (!state->file.next(state->bytes)) return std::nullopt;
    return types->decode(state->bytes, state->file.name());
  });
}

}  // namespace espalier::data
