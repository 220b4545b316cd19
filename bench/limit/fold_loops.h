/// The loops of Fold's cell (B0) after its second product: gates and state of a level in one pass, gradients in
/// another.
#pragma once

#include <cstdint>

namespace espalier::bench {

/// The rows of a minibatch; slots are those of TreeLayout.
struct FoldRows {
  std::int64_t size = 0;
  float* gates = nullptr;  // [inner, 4 size], [f_left f_right i u]
  float* s = nullptr;      // [slots, size]
  float* ds = nullptr;
  const std::int32_t* slot = nullptr;  // of every row of gates
};

/// s = sigmoid(f_left) s_left + sigmoid(f_right) s_right + sigmoid(i) tanh(u). `keep` leaves the gates for backward.
void fold_forward(const FoldRows& rows, std::int64_t begin, std::int64_t end, bool keep);
/// From ds to the gradients of the products, in `gates`, and to the part of the children's ds that goes past them. Adds
/// up the gradients of the bias.
void fold_backward(const FoldRows& rows, std::int64_t begin, std::int64_t end, float* bias);

}  // namespace espalier::bench
