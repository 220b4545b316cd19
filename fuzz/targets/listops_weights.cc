/// Weights of the ListOps model, whose sizes are in their metadata: a line of header and the data after it.
#include "espalier/models/listops.h"
#include "fuzz/input.h"

namespace espalier::fuzz {

void listops_weights(std::string_view input) {
  const MemoryFile file(safetensors_of(input));
  accepts([&] {
    Metadata facts;
    const models::ListOpsNet net = models::ListOpsNet::load(file.path(), &facts);
    const std::filesystem::path copy = temporary_folder() / "copy.listops";
    net.save(copy, facts);
    Metadata again;
    models::ListOpsNet::load(copy, &again);
    check(again == facts, "facts that were written read back the same");
  });
}

}  // namespace espalier::fuzz
