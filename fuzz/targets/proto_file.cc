/// The .proto files that describe messages.
#include "espalier/data/proto.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

void proto_file(std::string_view input) {
  const std::filesystem::path path = temporary_file("input.proto", input);
  accepts([&] {
    const data::ProtoReader reader(path, "M");
    accepts([&] { reader.read(""); });
    accepts([&] { reader.read("\x08\x96\x01"); });
    accepts([&] { reader.read("\x0a\x02\x08\x01"); });
  });
}

}  // namespace espalier::fuzz
