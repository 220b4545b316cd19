/// The loops of one time step of an LSTM over the active sentences of a minibatch: gates, cell and output in one pass,
/// and the gradients of all of these in one more.
#pragma once

#include <cstdint>

namespace espalier::bench {

/// Pointers are to the step's first row; rows follow without gaps unless something else is said.
struct LstmStep {
  std::int64_t hidden = 0;
  std::int64_t count = 0;       // rows of this step
  std::int64_t next_count = 0;  // of the next one: the first of these

  float* gates = nullptr;            // [count, 4 hidden], [i f o u]
  const float* projected = nullptr;  // row projected_row[r] is added to the gates of row r, unless it is null
  const std::int32_t* projected_row = nullptr;
  float* c = nullptr;
  const float* c_before = nullptr;  // of the step before; null: there is none
  float* tanh_c = nullptr;
  float* h_next = nullptr;  // what the next step multiplies: [next_count, hidden]

  float* y = nullptr;  // h of row r goes to y + token_row[r] * y_stride
  std::int64_t y_stride = 0;
  const std::int32_t* token_row = nullptr;

  const float* dy = nullptr;       // as y
  const float* dh_next = nullptr;  // as h_next
  float* dc = nullptr;             // [count, hidden]: of the next step's c on entry, of c_before on return
  float* bias = nullptr;           // gradients of the bias are added up here
};

/// `keep` leaves in `gates` and `tanh_c` what backward needs.
void lstm_forward(const LstmStep& step, bool keep);
/// Leaves the gradients of the products in `gates`.
void lstm_backward(const LstmStep& step);

}  // namespace espalier::bench
