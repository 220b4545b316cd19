/// LstmDirection: an LSTM in one direction over the sentences of a minibatch.
///
/// The input projections of all words are one product, with `dedupe` of all distinct words. Then a time step is one
/// product with the states of the step before, which wrote them where this one reads them, and one loop. The gradients
/// of all weights are one product each over all rows.
///
/// Thread safety: one thread at a time; two directions may run in two threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/limit/buffer.h"
#include "bench/limit/lane_sums.h"
#include "bench/limit/layer.h"
#include "bench/limit/lstm_loops.h"
#include "bench/limit/sequence_layout.h"
#include "bench/limit/table.h"
#include "bench/limit/weights.h"

namespace espalier::bench {

/// The words of a minibatch, as one direction sees them.
struct DirectionRows {
  const SequenceLayout* layout = nullptr;
  std::span<const std::int32_t> inputs;     // the words whose projections are computed
  std::span<const std::int32_t> input_row;  // which of them a row is; empty: they are the rows
  std::span<const std::int32_t> token_row;  // of every row

  std::int64_t input_count() const { return static_cast<std::int64_t>(inputs.size()); }
};

class LstmDirection {
 public:
  /// Parameters `scope`.W, .U and .b, of nn::LstmCell.
  LstmDirection(Weights& weights, const std::string& scope)
      : input_(weights[scope + ".W"], &weights[scope + ".b"]),
        recurrent_(weights[scope + ".U"], nullptr),
        bias_(weights[scope + ".b"]) {}

  std::int64_t hidden() const { return recurrent_.inputs(); }

  /// h of all rows to y (see LstmStep).
  void forward(const DirectionRows& rows, const Table& words, bool keep, float* y, std::int64_t y_stride, Watch& watch);
  /// From dy to the gradients of all weights and inputs. Comes after a forward() that keeps.
  void backward(const float* dy, std::int64_t dy_stride, Watch& watch);
  /// Of the inputs, [inputs, embedding].
  const float* input_gradients() const { return dx_.data(); }

 private:
  LstmStep step(std::int32_t t) const;
  Preparing input_preparing() const;
  Preparing recurrent_preparing() const;
  /// The gradients of what is multiplied by inputs, row by input.
  const float* gradients_by_input();

  Layer input_;
  Layer recurrent_;
  LaneSums bias_;
  DirectionRows rows_;
  Buffer<float> x_;  // [inputs, embedding]
  Buffer<float> dx_;
  Buffer<float> projected_;  // [inputs, 4 hidden]; then gradients of these
  Buffer<float> gates_;      // [rows, 4 hidden]
  Buffer<float> tanh_c_;
  Buffer<float> c_;
  Buffer<float> h_before_;  // what a row's product with U multiplies
  Buffer<float> dh_before_;
  Buffer<float> dc_;  // [sentences, hidden]
};

}  // namespace espalier::bench
