#include "bench/suite/record_json.h"

#include <nlohmann/json.hpp>

#include "espalier/base/files.h"

namespace espalier::bench {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Breakdown& breakdown) {
  return {{"recording", breakdown.recording}, {"scheduling", breakdown.scheduling}, {"planning", breakdown.planning},
          {"forward", breakdown.forward},     {"backward", breakdown.backward},     {"update", breakdown.update},
          {"copying", breakdown.copying},     {"products", breakdown.products},     {"maps", breakdown.maps},
          {"profiled", breakdown.profiled}};
}

Json to_json(const ProductFigures& products) {
  Json kinds = Json::array();
  for (const ProductFigures::Kind& kind : products.kinds)
    kinds.push_back({{"kind", kind.name},
                     {"calls", kind.calls},
                     {"gflops", kind.gflops},
                     {"gflops_alone", kind.alone},
                     {"share", kind.share}});
  const ProductFigures::Shares& shares = products.shares;
  return {{"gflops", products.gflops},
          {"gflops_alone", products.alone},
          {"ratio", products.ratio()},
          {"clock_share", products.clock_share},
          {"kinds", kinds},
          {"shares",
           {{"products", shares.products},
            {"preparing", shares.preparing},
            {"recording", shares.recording},
            {"scheduling", shares.scheduling},
            {"planning", shares.planning},
            {"copying", shares.copying},
            {"maps", shares.maps},
            {"update", shares.update},
            {"other", shares.other}}}};
}

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json to_json(const Record& record) {
  return {{"workload", record.workload},
          {"sizes", record.sizes},
          {"batch", record.batch},
          {"mode", name_of(record.mode)},
          {"threads", record.threads},
          {"variant", name_of(record.variant)},
          {"leaves", name_of(record.leaves)},
          {"data", record.real_data ? "real" : "generated"},
          {"instances_per_second", record.instances_per_second},
          {"ratio_of_medians", or_null(record.ratio_of_medians)},
          {"ratio_to_limit", or_null(record.ratio_to_limit)},
          {"spread", record.spread},
          {"rounds", record.rounds},
          {"over_limit_ns", or_null(record.over_limit_ns)},
          {"batch_seconds", record.batch_seconds},
          {"nodes", record.nodes},
          {"breakdown", to_json(record.breakdown)},
          {"steps", record.steps},
          {"bound", record.bound},
          {"bound_is_exact", record.bound_is_exact},
          {"bytes_copied", record.bytes_copied},
          {"peak_bytes", record.peak_bytes},
          {"products", record.products ? to_json(*record.products) : Json(nullptr)}};
}

}  // namespace

void write_json(const std::filesystem::path& path, const Records& records) {
  Json all = Json::array();
  for (const Record& record : records) all.push_back(to_json(record));
  write_file_atomically(path, all.dump(1) + "\n");
}

}  // namespace espalier::bench
