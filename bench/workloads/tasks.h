/// The workloads whose instances need values to go on: greedy parsing and decoding. They infer only: "unbatched" runs
/// one instance at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/data/sets.h"
#include "bench/suite/workload.h"
#include "espalier/control/run_batched.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/model.h"

namespace espalier::bench {

using TaggedSentences = std::shared_ptr<const DataSet<TaggedSentence>>;

/// B10: an LSTM that writes symbols until the end symbol, and at most as many as the sentence has words. Its next input
/// is the symbol that it wrote last; it starts from the vector of the sentence's first word.
struct Decoder {
  static constexpr std::int32_t kEnd = 0;
  static constexpr std::int32_t kStarts = 256;

  Decoder(std::int32_t symbol_count, std::int32_t hidden);
  /// The sum of the numbers of the symbols.
  Task<double> decode(Graph& graph, const TaggedSentence& sentence) const;
  static std::int32_t start_of(const TaggedSentence& sentence) { return sentence.words.front() % kStarts; }

  Model model{1};
  nn::Embedding starts;
  nn::Embedding symbols;
  nn::LstmCell cell;
  nn::Linear scores;
};

/// `hidden` is the size of the states in each direction.
std::unique_ptr<Workload> parsing_workload(TaggedSentences data, std::int32_t hidden);
std::unique_ptr<Workload> decoding_workload(TaggedSentences data, std::int32_t symbols, std::int32_t hidden);

}  // namespace espalier::bench
