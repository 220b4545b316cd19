/// The loops of the binary Tree-LSTM between its products: gates, cell and output of a level in one pass, and the
/// gradients of all of these in one more.
#pragma once

#include <cstdint>

namespace espalier::bench {

/// The rows of a minibatch; slots are those of TreeLayout.
struct TreeLstmRows {
  std::int64_t hidden = 0;
  float* gates = nullptr;   // [inner, 5 hidden], [i o f_left f_right u]; of leaves: [leaves, 3 hidden], [i o u]
  float* tanh_c = nullptr;  // [inner or leaves, hidden]
  float* h = nullptr;       // [slots, hidden]
  float* c = nullptr;
  float* dh = nullptr;  // [slots, hidden]; in the gradients' slots
  float* dc = nullptr;
  const std::int32_t* slot = nullptr;  // of every row of gates

  // The classifier, which every node's h goes through besides: its gradient joins in.
  std::int64_t classes = 0;
  const float* head = nullptr;     // [classes, hidden]
  const float* dscores = nullptr;  // [classes, slots]
  std::int64_t slots = 0;
};

/// Rows begin to end: from the products in `gates` to h and c. `keep` leaves in `gates` and `tanh_c` what backward
/// needs.
void tree_lstm_forward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, bool keep);
void tree_lstm_leaves_forward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, bool keep);

/// From dh and dc of rows begin to end to the gradients of the products, in `gates`, and dc of the children. Adds up
/// the gradients of the bias.
void tree_lstm_backward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, float* bias);
void tree_lstm_leaves_backward(const TreeLstmRows& rows, std::int64_t begin, std::int64_t end, float* bias);

}  // namespace espalier::bench
