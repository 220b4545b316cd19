#include "bench/suite/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "bench/workloads/fold_tree.h"
#include "bench/workloads/networks.h"
#include "bench/workloads/plan_net.h"
#include "bench/workloads/tagger.h"
#include "bench/workloads/tasks.h"
#include "bench/workloads/tree_lstm.h"
#include "espalier/base/error.h"

namespace espalier::bench {
namespace {

template <class Instance>
SharedData<Instance> shared(DataSet<Instance> set) {
  return std::make_shared<const DataSet<Instance>>(std::move(set));
}

EmbeddingAndHidden two(const Sizes& sizes) { return {.embedding = sizes.numbers[0], .hidden = sizes.numbers[1]}; }

constexpr std::array<std::pair<std::string_view, TreeShape>, 4> kShapes{{{"random", TreeShape::kRandom},
                                                                         {"same", TreeShape::kSame},
                                                                         {"balanced", TreeShape::kBalanced},
                                                                         {"chain", TreeShape::kChain}}};

const TreeShape* find_shape(std::string_view name) {
  for (const auto& [known, shape] : kShapes)
    if (known == name) return &shape;
  return nullptr;
}

/// By default there are as many of Fold's trees as the largest batch size.
constexpr std::int32_t kFoldTrees = 256;

std::unique_ptr<Workload> make_fold_trees(const Sizes& sizes, const Source& source) {
  const TreeShape shape = *find_shape(sizes.shape);
  const std::int32_t count = source.generate.count > 0 ? source.generate.count : kFoldTrees;
  return fold_tree_workload(shared(fold_trees(shape, count, source.generate.seed)), shape, sizes.numbers[0]);
}

const std::vector<std::int32_t> kBatches{1, 16, 64, 256};

std::vector<WorkloadKind> make_kinds() {
  return {
      {.name = "B0",
       .title = "Fold's benchmark: trees of 128 leaves",
       .size_names = "shape/state",
       .sizes = {"random/1024", "same/1024", "balanced/1024", "chain/1024"},
       .batches = {1, 16, 64},
       .main_sizes = 2,
       .side_batches = {16},
       .short_sizes = 2,
       .short_batches = {16},
       .is_long = true,
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
           [](const Sizes& sizes, const Source& source) {
             return tree_lstm_workload(shared(sentiment_trees(source.folder, source.generate)),
                                       {.embedding = sizes.numbers[0], .hidden = sizes.numbers[1]});
           }},
      {.name = "B2",
       .title = "BiLSTM tagger",
       .size_names = "embedding/hidden",
       .sizes = {"128/64", "128/128"},
       .batches = kBatches,
       .short_batches = {64},
       .short_threads = true,
       .make =
           [](const Sizes& sizes, const Source& source) {
             return tagger_workload(shared(tagged_sentences(source.folder, source.generate)),
                                    {.embedding = sizes.numbers[0], .hidden = sizes.numbers[1]});
           }},
      {.name = "B3",
       .title = "BiLSTM tagger that spells rare words",
       .size_names = "embedding/hidden",
       .sizes = {"128/64"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const Sizes& sizes, const Source& source) {
             return character_tagger_workload(shared(tagged_sentences(source.folder, source.generate)), two(sizes));
           }},
      {.name = "B4",
       .title = "child-sum Tree-LSTM on dependency trees",
       .size_names = "embedding/hidden",
       .sizes = {"300/150"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const Sizes& sizes, const Source& source) {
             return child_sum_workload(shared(dependency_trees(source.folder, source.generate)), two(sizes));
           }},
      {.name = "B5",
       .title = "lattice LSTM on words in Chinese sentences",
       .size_names = "embedding/hidden",
       .sizes = {"128/128"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const Sizes& sizes, const Source& source) {
             return lattice_workload(shared(word_lattices(source.folder, source.generate)), two(sizes));
           }},
      {.name = "B6",
       .title = "message passing on molecules",
       .size_names = "hidden",
       .sizes = {"64", "128"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const Sizes& sizes, const Source& source) {
             return message_passing_workload(shared(molecules(source.folder, source.generate)), sizes.numbers[0]);
           }},
      {.name = "B7",
       .title = "query-plan network, a small network for each kind of operator",
       .size_names = "hidden",
       .sizes = {"32", "128"},
       .batches = {1, 100},
       .short_sizes = 2,
       .short_batches = {1, 100},
       .make =
           [](const Sizes& sizes, const Source& source) {
             return plan_net_workload(shared(query_plans(source.folder, source.generate)), sizes.numbers[0]);
           }},
      {.name = "B8",
       .title = "matrix-vector network on sentiment trees",
       .size_names = "hidden",
       .sizes = {"32"},
       .batches = kBatches,
       .short_batches = {64},
       .make =
           [](const Sizes& sizes, const Source& source) {
             return matrix_vector_workload(shared(sentiment_trees(source.folder, source.generate)), sizes.numbers[0]);
           }},
      {.name = "B9",
       .title = "greedy transition parsing, each move from its scores",
       .size_names = "hidden",
       .sizes = {"128"},
       .batches = kBatches,
       .short_batches = {64},
       .trains = false,
       .make =
           [](const Sizes& sizes, const Source& source) {
             return parsing_workload(shared(tagged_sentences(source.folder, source.generate)), sizes.numbers[0]);
           }},
      {.name = "B10",
       .title = "greedy decoding until the end symbol",
       .size_names = "symbols/hidden",
       .sizes = {"1000/128"},
       .batches = kBatches,
       .short_batches = {64},
       .trains = false,
       .make =
           [](const Sizes& sizes, const Source& source) {
             return decoding_workload(shared(tagged_sentences(source.folder, source.generate)), sizes.numbers[0],
                                      sizes.numbers[1]);
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
    known += fmt::format("{}{}", known.empty() ? "" : ", ", kind.name);
  }
  throw UsageError(fmt::format("there is no workload \"{}\": the workloads are {}", name, known));
}

Sizes parse_sizes(const WorkloadKind& kind, const std::string& text) {
  const auto refuse = [&] {
    throw UsageError(fmt::format("sizes of {} are {}, as in {}, but \"{}\" is given", kind.name, kind.size_names,
                                 kind.sizes.front(), text));
  };
  Sizes sizes;
  std::size_t expected = 1 + static_cast<std::size_t>(std::count(kind.size_names.begin(), kind.size_names.end(), '/'));
  std::size_t begin = 0;
  if (kind.size_names.starts_with("shape/")) {
    begin = text.find('/') + 1;
    sizes.shape = text.substr(0, begin == 0 ? 0 : begin - 1);
    if (find_shape(sizes.shape) == nullptr) refuse();
    --expected;
  }
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    std::int32_t number = 0;
    const auto parsed = std::from_chars(text.data() + begin, text.data() + end, number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + end || number < 1) refuse();
    sizes.numbers.push_back(number);
    begin = end + 1;
  }
  if (sizes.numbers.size() != expected) refuse();
  return sizes;
}

}  // namespace espalier::bench
