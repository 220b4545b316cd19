#include "bench/suite/registry.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "bench/workloads/networks.h"
#include "espalier/base/error.h"

namespace espalier::bench {
namespace {

template <class Instance>
SharedData<Instance> shared(DataSet<Instance> set) {
  return std::make_shared<const DataSet<Instance>>(std::move(set));
}

EmbeddingAndHidden two_sizes(std::string_view kind, const std::string& text) {
  const std::vector<std::int32_t> sizes = parse_sizes(workload_kind(kind), text);
  return {.embedding = sizes[0], .hidden = sizes[1]};
}

std::int32_t one_size(std::string_view kind, const std::string& text) {
  return parse_sizes(workload_kind(kind), text)[0];
}

const std::vector<std::int32_t> kBatches{1, 16, 64, 256};

std::vector<WorkloadKind> make_kinds() {
  return {
      {.name = "B3",
       .title = "BiLSTM tagger that spells rare words",
       .size_names = "embedding/hidden",
       .sizes = {"128/64"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const std::string& sizes, const Source& source) {
             return character_tagger_workload(shared(tagged_sentences(source.folder, source.generate)),
                                              two_sizes("B3", sizes));
           }},
      {.name = "B4",
       .title = "child-sum Tree-LSTM on dependency trees",
       .size_names = "embedding/hidden",
       .sizes = {"300/150"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const std::string& sizes, const Source& source) {
             return child_sum_workload(shared(dependency_trees(source.folder, source.generate)),
                                       two_sizes("B4", sizes));
           }},
      {.name = "B5",
       .title = "lattice LSTM on words in Chinese sentences",
       .size_names = "embedding/hidden",
       .sizes = {"128/128"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const std::string& sizes, const Source& source) {
             return lattice_workload(shared(word_lattices(source.folder, source.generate)), two_sizes("B5", sizes));
           }},
      {.name = "B6",
       .title = "message passing on molecules",
       .size_names = "hidden",
       .sizes = {"64", "128"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const std::string& sizes, const Source& source) {
             return message_passing_workload(shared(molecules(source.folder, source.generate)), one_size("B6", sizes));
           }},
      {.name = "B8",
       .title = "matrix-vector network on sentiment trees",
       .size_names = "hidden",
       .sizes = {"32"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const std::string& sizes, const Source& source) {
             return matrix_vector_workload(shared(sentiment_trees(source.folder, source.generate)),
                                           one_size("B8", sizes));
           }},
  };
}

}  // namespace

std::span<const WorkloadKind> workload_kinds() {
  static const std::vector<WorkloadKind> kinds = make_kinds();
  return kinds;
}

const WorkloadKind& workload_kind(std::string_view name) {
  std::string known;
  for (const WorkloadKind& kind : workload_kinds()) {
    if (kind.name == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw UsageError(fmt::format("there is no workload \"{}\": the workloads are {}", name, known));
}

std::vector<std::int32_t> parse_sizes(const WorkloadKind& kind, const std::string& text) {
  std::vector<std::int32_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int32_t number = 0;
    const auto parsed = std::from_chars(at, end, number);
    if (parsed.ec != std::errc() || number < 1) break;
    numbers.push_back(number);
    if (parsed.ptr == end) {
      at = end;
      break;
    }
    if (*parsed.ptr != '/') break;
    at = parsed.ptr + 1;
  }
  std::size_t expected = 1;
  for (const char c : kind.size_names) expected += c == '/' ? 1 : 0;
  if (at != end || numbers.size() != expected)
    throw UsageError(fmt::format("sizes of {} are {}, as in {}, but \"{}\" is given", kind.name, kind.size_names,
                                 kind.sizes.front(), text));
  return numbers;
}

}  // namespace espalier::bench
