/// The limit of B2: a BiLSTM tagger with a layer between states and scores, written by hand for whole minibatches.
///
/// The directions run in two lanes where there are two. What comes after them is one product a layer over all words.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/data/sets.h"
#include "bench/limit/buffer.h"
#include "bench/limit/distinct.h"
#include "bench/limit/head.h"
#include "bench/limit/lane_sums.h"
#include "bench/limit/layer.h"
#include "bench/limit/limit_runner.h"
#include "bench/limit/lstm_direction.h"
#include "bench/limit/sequence_layout.h"
#include "bench/limit/table.h"

namespace espalier::bench {

class TaggerLimit : public LimitRunner {
 public:
  /// The parameters of `model` are those of workloads/tagger.h.
  TaggerLimit(std::shared_ptr<const DataSet<TaggedSentence>> data, const Model& model, bool dedupe);

 private:
  double differentiate(std::span<const std::int32_t> batch, float scale) override;
  double evaluate(std::span<const std::int32_t> batch) override;

  void lay_out(std::span<const std::int32_t> batch);
  /// Calls fn(direction, rows, offset of its columns in y, watch) for both directions.
  template <class F>
  void for_directions(const F& fn);
  /// The scores, without the bias.
  void forward(bool keep);
  double losses(float scale);
  void backward();

  std::shared_ptr<const DataSet<TaggedSentence>> data_;
  bool dedupe_;
  Table words_;
  LstmDirection forward_;
  LstmDirection backward_;
  Layer middle_;
  LaneSums middle_bias_;
  Head head_;
  std::int64_t hidden_;

  SequenceLayout layout_;
  DistinctRows distinct_;
  std::vector<std::int32_t> all_rows_;       // 0, 1, 2 ...
  std::vector<std::int32_t> backward_uses_;  // of_use() of distinct_, in the order of backward rows
  std::vector<double> losses_;               // of the lanes
  DirectionRows forward_rows_;
  DirectionRows backward_rows_;
  Buffer<float> y_;  // [rows, 2 hidden]
  Buffer<float> dy_;
  Buffer<float> middle_values_;  // [rows, middle]
  Buffer<float> middle_gradients_;
};

}  // namespace espalier::bench
