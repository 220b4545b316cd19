#include "espalier/data/json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <new>
#include <variant>

#include "espalier/base/error.h"
#include "espalier/data/byte_file.h"
#include "espalier/data/json_error.h"
#include "espalier/data/text_source.h"

namespace espalier::data {

namespace dom = simdjson::dom;

/// simdjson's document as a Value, without recursion. One parser serves many texts, and keeps its memory.
class JsonParser {
 public:
  Value parse(const TextSource& source) {
    objects_ = 0;
    open_.clear();
    Value done = begin(source, document(source));
    while (!open_.empty()) {
      const bool more = std::visit([&](auto& open) { return advance(source, open, done); }, open_.back());
      if (!more) open_.pop_back();
    }
    return done;
  }

 private:
  // A list or object whose items up to `next` are read or, the last of them, being read.
  struct OpenList {
    dom::array::iterator next;
    dom::array::iterator end;
    std::vector<Value> items;
    bool begun = false;
  };
  struct OpenMap {
    dom::object::iterator next;
    dom::object::iterator end;
    std::vector<Value::Entry> entries;
    std::size_t objects_before;
    bool begun = false;
  };

  dom::element document(const TextSource& source) {
    constexpr std::size_t kLargest = 0xFFFFFFFF;
    if (source.text.size() > kLargest)
      throw DataError(fmt::format("{}: expected at most 4 GiB of JSON, not {} bytes", source.name, source.text.size()));
    dom::element root;
    simdjson::error_code error = parser_.parse(source.text.data(), source.text.size()).get(root);
    if (error == simdjson::DEPTH_ERROR) {
      // Its stack has a fixed size. Brackets in strings count too: the memory is used only as far as the text is deep.
      const auto brackets =
          std::count_if(source.text.begin(), source.text.end(), [](char c) { return c == '[' || c == '{'; });
      error =
          parser_.allocate(std::max(source.text.size(), parser_.capacity()), static_cast<std::size_t>(brackets) + 2);
      if (error == simdjson::SUCCESS) error = parser_.parse(source.text.data(), source.text.size()).get(root);
    }
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    if (error != simdjson::SUCCESS) refuse_json(source, simdjson::error_message(error));
    return root;
  }

  // A scalar is its Value; a list or object is put on the stack, and null stands for it until it is done.
  Value begin(const TextSource& source, const dom::element& element) {
    switch (element.type()) {
      case dom::element_type::ARRAY: {
        const dom::array array = element.get_array().value_unsafe();
        open_.emplace_back(OpenList{array.begin(), array.end(), {}});
        return nullptr;
      }
      case dom::element_type::OBJECT: {
        const dom::object object = element.get_object().value_unsafe();
        open_.emplace_back(OpenMap{object.begin(), object.end(), {}, objects_++});
        return nullptr;
      }
      case dom::element_type::INT64: return element.get_int64().value_unsafe();
      case dom::element_type::UINT64: refuse_json(source, "an integer is above 2^63 - 1");
      case dom::element_type::DOUBLE: return element.get_double().value_unsafe();
      case dom::element_type::STRING: return element.get_string().value_unsafe();
      case dom::element_type::BOOL: return element.get_bool().value_unsafe();
      case dom::element_type::NULL_VALUE: return nullptr;
    }
    throw InternalError("simdjson gave an element of a type that is none");
  }

  // Each takes what was done last as its item, if it asked for one, and begins the next. False when there is none:
  // then `done` is the whole list or map. begin() may move the stack, so it comes last.
  bool advance(const TextSource& source, OpenList& open, Value& done) {
    if (open.begun) open.items.push_back(std::move(done));
    if (open.next == open.end) {
      done = Value::list(std::move(open.items));
      return false;
    }
    open.begun = true;
    const dom::element element = *open.next;
    ++open.next;
    done = begin(source, element);
    return true;
  }
  bool advance(const TextSource& source, OpenMap& open, Value& done) {
    if (open.begun) open.entries.back().value = std::move(done);
    if (open.next == open.end) {
      try {
        done = Value::map(std::move(open.entries));
      } catch (const UsageError& error) {  // a key that is there twice
        refuse_json_object(source, open.objects_before, error.what());
      }
      return false;
    }
    open.begun = true;
    open.entries.push_back({std::string(open.next.key()), nullptr});
    const dom::element element = open.next.value();
    ++open.next;
    done = begin(source, element);
    return true;
  }

  dom::parser parser_;
  std::vector<std::variant<OpenList, OpenMap>> open_;
  std::size_t objects_ = 0;
};

Value parse_json(std::string_view text, std::string_view source, std::int64_t first_line) {
  return JsonParser().parse({std::string(source), text, first_line});
}

Value read_json(Input input) {
  const std::string name = input.name();
  return parse_json(read_bytes(std::move(input)), name);
}

JsonLinesReader::JsonLinesReader(Input input, const ReadOptions& options)
    : RecordReader(options), lines_(std::move(input)), parser_(std::make_unique<JsonParser>()) {}
JsonLinesReader::~JsonLinesReader() = default;

std::string JsonLinesReader::place() const { return fmt::format("{}:{}", lines_.name(), lines_.line_number()); }

bool JsonLinesReader::read(Value& record) {
  for (std::string_view line; lines_.next(line);) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    record = parser_->parse({lines_.name(), line, lines_.line_number()});
    return true;
  }
  return false;
}

ValueStream json_lines(Input input) {
  return ValueStream([reader = std::make_shared<JsonLinesReader>(std::move(input))]() -> std::optional<Value> {
    Value value;
    if (!reader->next(value)) return std::nullopt;
    return value;
  });
}

}  // namespace espalier::data
