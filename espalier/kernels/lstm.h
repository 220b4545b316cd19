/// The elementwise part of LSTM cells, many rows at a time and in one pass: what is read and written once is what takes
/// time there.
///
/// All rows of a call are as many and as long as those of its result. What is opened may be left in place of what it
/// was opened from, and the gradient of that in place of it; nothing else overlaps, but that gradients which are added
/// may go to one place. A row has the same bits however many others come with it, and wherever it lies.
///
/// Thread safety: functions of their arguments alone; each runs in the calling thread only.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"
#include "espalier/tensor/rows.h"

namespace espalier::kernels {

/// Where a gradient goes: added to, or stored; without data where nobody wants it.
struct GradientRows {
  Rows rows;
  bool store = false;
};

/// c = sigmoid(i) tanh(u) + the sum over k of sigmoid(f_k) c_k.
struct LstmMemoryRows {
  std::int64_t children = 0;
  const ConstRows* x = nullptr;  // i, u, f_1, c_1, f_2, c_2, ... of all children
  Rows c;
  const Rows* opened = nullptr;  // where sigmoid(i), tanh(u), sigmoid(f_1), ... are left; null: nowhere
};

/// h = sigmoid(o) tanh(c).
struct LstmOutputRows {
  ConstRows o;
  ConstRows c;
  Rows h;
  Rows opened;  // where sigmoid(o) is left; without data: nowhere
  Rows tanh_c;  // likewise
};

ESPALIER_EXPORT void lstm_memory(const LstmMemoryRows& memory);
ESPALIER_EXPORT void lstm_output(const LstmOutputRows& output);

/// What the gradients are computed from, and where they go.
struct LstmMemoryGradients {
  std::int64_t children = 0;
  const ConstRows* x = nullptr;  // only c_1, c_2, ... are read
  const ConstRows* opened = nullptr;
  ConstRows dc;
  const GradientRows* targets = nullptr;  // beside x
};

struct LstmOutputGradients {
  ConstRows opened;
  ConstRows tanh_c;
  ConstRows dh;
  GradientRows by_o;
  GradientRows by_c;
};

ESPALIER_EXPORT void lstm_memory_gradient(const LstmMemoryGradients& memory);
ESPALIER_EXPORT void lstm_output_gradient(const LstmOutputGradients& output);

}  // namespace espalier::kernels
