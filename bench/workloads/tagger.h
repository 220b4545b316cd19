/// B2: a BiLSTM tagger: words looked up, an LSTM in each direction, and at every word
///
///   scores = tanh([h_forward; h_backward] W_m + b_m) W + b        with a middle layer of 32
#pragma once

#include <cstdint>
#include <memory>

#include "bench/data/sets.h"
#include "bench/suite/workload.h"

namespace espalier::bench {

struct TaggerSizes {
  std::int32_t embedding = 128;
  std::int32_t hidden = 64;  // in each direction
  std::int32_t middle = 32;
};

std::unique_ptr<Workload> tagger_workload(std::shared_ptr<const DataSet<TaggedSentence>> data,
                                          const TaggerSizes& sizes);

}  // namespace espalier::bench
