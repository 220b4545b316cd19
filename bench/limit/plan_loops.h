/// The loops of the query-plan network after the second product of a group: the state, the time predicted from it, its
/// loss, and the gradients of all of these.
#pragma once

#include <cstdint>

namespace espalier::bench {

/// The rows of a minibatch.
struct PlanRows {
  std::int64_t hidden = 0;
  float* s = nullptr;                   // [rows, hidden]: products, then states, then gradients of the products
  float* x = nullptr;                   // operands of the parents: s of row r goes to x + place[r] too, ...
  const std::int64_t* place = nullptr;  // ... unless this is negative: a root
  const float* dx = nullptr;            // gradients of the operands, at gradient_place[r]
  const std::int64_t* gradient_place = nullptr;
  const float* head = nullptr;  // [hidden]
  float head_bias = 0;
  const float* target = nullptr;  // [rows]
  float* dtime = nullptr;         // [rows]
};

/// s = relu(s), times of these rows, and dtime, `scale` times the gradient of their squared errors. Gives the sum of
/// these errors.
double plan_forward(const PlanRows& rows, std::int64_t begin, std::int64_t end, float scale);
/// The same for inference: gives the sum of the times of roots.
double plan_forward_roots(const PlanRows& rows, std::int64_t begin, std::int64_t end);
/// From dtime and dx to the gradients of the products, in `s`. Adds up the gradients of their bias and of the head.
void plan_backward(const PlanRows& rows, std::int64_t begin, std::int64_t end, float* bias, float* head_gradient);

}  // namespace espalier::bench
