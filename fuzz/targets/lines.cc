/// Lines of text, characters, words, and quoted text in messages.
#include "espalier/data/line_reader.h"

#include "espalier/data/text_file.h"
#include "espalier/data/text_source.h"
#include "espalier/data/utf8.h"
#include "espalier/models/json_schema.h"
#include "espalier/models/text_lists.h"
#include "espalier/models/words.h"
#include "fuzz/input.h"

namespace espalier::fuzz {
namespace {

std::vector<std::string> lines_in(data::Input input) {
  std::vector<std::string> lines;
  accepts([&] {
    data::LineReader reader(std::move(input));
    for (bool more = true; more;)
      accepts([&] {
        std::string_view line;
        more = reader.readable() && reader.next(line);
        if (!more) return;
        check(data::is_utf8(line), "lines are UTF-8");
        reader.put_back({std::string(line)});
        std::string_view again;
        check(reader.next(again), "a line that was put back is read again");
        lines.emplace_back(again);
      });
  });
  return lines;
}

}  // namespace

void lines(std::string_view input) {
  const std::vector<std::string> found = lines_in(data::Input::text(std::string(input)));
  if (!input.starts_with("\x1f\x8b")) check(lines_in(MemoryFile(input).path()) == found, "a file reads as a text does");

  const data::TextSource source{.name = "input", .text = input};
  for (std::size_t at = 0; at <= input.size(); ++at) source.place(at);
  std::string all;
  for (const std::string_view character : data::characters_of(input)) all += character;
  check(all == input, "the characters are the text");
  check(data::is_utf8(data::quoted(input)), "quoted text is fit for messages");
  models::words_of_text(input);
  models::lower_case(input);
  models::comma_list(input);
}

}  // namespace espalier::fuzz
