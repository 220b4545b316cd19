/// DecoderLimit: the decoder of B10 without a graph: the states of all sentences that are still decoded are the rows of
/// one matrix, which loses rows as they end.
#pragma once

#include <memory>
#include <vector>

#include "bench/data/sets.h"
#include "bench/limit/buffer.h"
#include "bench/limit/layer.h"
#include "bench/limit/limit_runner.h"

namespace espalier::bench {

class DecoderLimit : public LimitRunner {
 public:
  DecoderLimit(std::shared_ptr<const DataSet<TaggedSentence>> data, const Model& model);

 private:
  /// Decoding does not train.
  double differentiate(std::span<const std::int32_t> batch, float scale) override;
  double evaluate(std::span<const std::int32_t> batch) override;

  /// What a thread decodes with.
  struct Lane {
    Buffer<float> x, h, c, gates, scores;
    std::vector<std::int32_t> symbol;  // of each row, the newest
    std::vector<std::int64_t> left;    // symbols that it may still make
    std::vector<std::int32_t> place;   // of each row, its number
  };
  double decode(std::span<const std::int32_t> part, Lane& lane, Watch& watch) const;
  /// Makes a symbol for each of the rows; gives how many go on, which are the first afterwards.
  std::int64_t step(std::int64_t rows, Lane& lane, Watch& watch, double& sum) const;

  std::shared_ptr<const DataSet<TaggedSentence>> data_;
  Weight& starts_;
  Weight& symbols_;
  Layer input_;
  Layer recurrent_;
  Layer scores_;
  std::vector<Lane> lanes_;
};

}  // namespace espalier::bench
