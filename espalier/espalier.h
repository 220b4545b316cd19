/// Espalier: neural networks over trees, graphs and sequences of any shape, written for one input and run batched.
///
/// This header gives all of it. The order to read the parts in: graph/graph.h, ops/ (`espalier ops` prints the table),
/// cells/cell.h, nn/model.h, optim/optimizer.h.
#pragma once

#include "espalier/base/error.h"
#include "espalier/base/random.h"
#include "espalier/base/threads.h"
#include "espalier/cells/cell.h"
#include "espalier/data/value.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/graph.h"
#include "espalier/nn/attention.h"
#include "espalier/nn/child_sum_tree_lstm.h"
#include "espalier/nn/dropout.h"
#include "espalier/nn/embedding.h"
#include "espalier/nn/gru.h"
#include "espalier/nn/layer_norm.h"
#include "espalier/nn/linear.h"
#include "espalier/nn/lstm.h"
#include "espalier/nn/mlp.h"
#include "espalier/nn/model.h"
#include "espalier/nn/safetensors.h"
#include "espalier/nn/tree_gru.h"
#include "espalier/nn/tree_lstm.h"
#include "espalier/ops/all.h"
#include "espalier/optim/adadelta.h"
#include "espalier/optim/adagrad.h"
#include "espalier/optim/adam.h"
#include "espalier/optim/adamw.h"
#include "espalier/optim/rmsprop.h"
#include "espalier/optim/schedule.h"
#include "espalier/optim/sgd.h"
