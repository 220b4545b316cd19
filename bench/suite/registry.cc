#include "bench/suite/registry.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "bench/workloads/fold_tree.h"
#include "bench/workloads/networks.h"
#include "bench/workloads/tagger.h"
#include "bench/workloads/tree_lstm.h"
#include "espalier/base/error.h"

namespace espalier::bench {
namespace {

template <class Instance>
SharedData<Instance> shared(DataSet<Instance> set) {
  return std::make_shared<const DataSet<Instance>>(std::move(set));
}

/// Those of "300/150"; none of anything else.
std::vector<std::int32_t> parse_numbers(const std::string& text) {
  std::vector<std::int32_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int32_t number = 0;
    const auto parsed = std::from_chars(at, end, number);
    if (parsed.ec != std::errc() || number < 1) return {};
    numbers.push_back(number);
    if (parsed.ptr == end) return numbers;
    if (*parsed.ptr != '/') return {};
    at = parsed.ptr + 1;
  }
}

[[noreturn]] void refuse_sizes(const WorkloadKind& kind, const std::string& text) {
  throw UsageError(fmt::format("sizes of {} are {}, as in {}, but \"{}\" is given", kind.name, kind.size_names,
                               kind.sizes.front(), text));
}

EmbeddingAndHidden two_sizes(std::string_view kind, const std::string& text) {
  const std::vector<std::int32_t> sizes = parse_numbers(text);
  if (sizes.size() != 2) refuse_sizes(workload_kind(kind), text);
  return {.embedding = sizes[0], .hidden = sizes[1]};
}

std::int32_t one_size(std::string_view kind, const std::string& text) {
  const std::vector<std::int32_t> sizes = parse_numbers(text);
  if (sizes.size() != 1) refuse_sizes(workload_kind(kind), text);
  return sizes[0];
}

/// Of Fold's trees there are as many as the largest minibatch has, where nothing else is said.
constexpr std::int32_t kFoldTrees = 256;

/// "random/1024": one of the shapes, and the size of the state.
std::unique_ptr<Workload> make_fold_trees(const std::string& sizes, const Source& source) {
  constexpr std::array<std::pair<std::string_view, TreeShape>, 4> kShapes{{{"random/", TreeShape::kRandom},
                                                                           {"same/", TreeShape::kSame},
                                                                           {"balanced/", TreeShape::kBalanced},
                                                                           {"chain/", TreeShape::kChain}}};
  for (const auto& [prefix, shape] : kShapes) {
    if (!sizes.starts_with(prefix)) continue;
    const std::int32_t count = source.generate.count > 0 ? source.generate.count : kFoldTrees;
    const std::vector<std::int32_t> state = parse_numbers(sizes.substr(prefix.size()));
    if (state.size() == 1)
      return fold_tree_workload(shared(fold_trees(shape, count, source.generate.seed)), shape, state[0]);
  }
  refuse_sizes(workload_kind("B0"), sizes);
}

const std::vector<std::int32_t> kBatches{1, 16, 64, 256};

std::vector<WorkloadKind> make_kinds() {
  return {
      {.name = "B0",
       .title = "Fold's benchmark: trees of 128 leaves",
       .size_names = "shape/state",
       .sizes = {"random/1024", "same/1024", "balanced/1024", "chain/1024"},
       .batches = {1, 16, 64},
       .short_sizes = 2,
       .short_batches = {16},
       .make = make_fold_trees},
      {.name = "B1",
       .title = "binary Tree-LSTM on sentiment trees",
       .size_names = "embedding/hidden",
       .sizes = {"300/150", "128/128", "64/64"},
       .batches = kBatches,
       .short_batches = {1, 64},
       .short_threads = true,
       .large_batch = 4096,
       .make =
           [](const std::string& sizes, const Source& source) {
             const EmbeddingAndHidden two = two_sizes("B1", sizes);
             return tree_lstm_workload(shared(sentiment_trees(source.folder, source.generate)),
                                       {.embedding = two.embedding, .hidden = two.hidden});
           }},
      {.name = "B2",
       .title = "BiLSTM tagger",
       .size_names = "embedding/hidden",
       .sizes = {"128/64", "128/128"},
       .batches = kBatches,
       .short_batches = {64},
       .short_threads = true,
       .make =
           [](const std::string& sizes, const Source& source) {
             const EmbeddingAndHidden two = two_sizes("B2", sizes);
             return tagger_workload(shared(tagged_sentences(source.folder, source.generate)),
                                    {.embedding = two.embedding, .hidden = two.hidden});
           }},
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

}  // namespace espalier::bench
