#include "bench/limit/decoder.h"

#include <algorithm>
#include <utility>

#include "bench/limit/lstm_loops.h"
#include "bench/workloads/tasks.h"
#include "espalier/base/error.h"

namespace espalier::bench {

DecoderLimit::DecoderLimit(std::shared_ptr<const DataSet<TaggedSentence>> data, const Model& model)
    : LimitRunner(model),
      data_(std::move(data)),
      starts_(weights_["starts.table"]),
      symbols_(weights_["symbols.table"]),
      input_(weights_["cell.W"], &weights_["cell.b"]),
      recurrent_(weights_["cell.U"], nullptr),
      scores_(weights_["scores.W"], &weights_["scores.b"]) {}

double DecoderLimit::differentiate(std::span<const std::int32_t>, float) {
  throw UsageError("this workload does not train");
}

double DecoderLimit::evaluate(std::span<const std::int32_t> batch) {
  Preparing products;
  products.add_forever();
  for (Layer* layer : {&input_, &recurrent_, &scores_}) layer->prepare_forward(products, watch());
  lanes_.resize(static_cast<std::size_t>(lanes()));
  std::vector<double> sums(lanes_.size(), 0);
  for_lanes([&](std::int64_t lane, Watch& watch) {
    const auto i = static_cast<std::size_t>(lane);
    const std::size_t begin = batch.size() * i / lanes_.size();
    const std::size_t end = batch.size() * (i + 1) / lanes_.size();
    sums[i] = decode(batch.subspan(begin, end - begin), lanes_[i], watch);
  });
  double sum = 0;
  for (const double each : sums) sum += each;
  return sum;
}

double DecoderLimit::decode(std::span<const std::int32_t> part, Lane& lane, Watch& watch) const {
  auto rows = static_cast<std::int64_t>(part.size());
  const std::int64_t size = recurrent_.inputs();
  lane.x.room(rows * size);
  lane.h.room(rows * size);
  lane.gates.room(rows * 4 * size);
  lane.scores.room(rows * scores_.outputs());
  std::fill_n(lane.c.room(rows * size), rows * size, 0.0F);
  lane.symbol.assign(part.size(), Decoder::kEnd);
  lane.left.resize(part.size());
  lane.place.resize(part.size());
  for (std::size_t r = 0; r < part.size(); ++r) {
    const TaggedSentence& sentence = data_->instances[static_cast<std::size_t>(part[r])];
    lane.left[r] = std::ssize(sentence.words);
    lane.place[r] = static_cast<std::int32_t>(r);
    std::copy_n(starts_.values.data() + Decoder::start_of(sentence) * size, size,
                lane.h.data() + static_cast<std::int64_t>(r) * size);
  }
  watch.lap(Part::kLayout);
  double sum = 0;
  while (rows > 0) rows = step(rows, lane, watch, sum);
  return sum;
}

std::int64_t DecoderLimit::step(std::int64_t rows, Lane& lane, Watch& watch, double& sum) const {
  const std::int64_t size = recurrent_.inputs();
  for (std::int64_t r = 0; r < rows; ++r)
    std::copy_n(symbols_.values.data() + lane.symbol[static_cast<std::size_t>(r)] * size, size,
                lane.x.data() + r * size);
  watch.lap(Part::kLoops);
  input_.forward(rows, lane.x.data(), lane.gates.data(), /*accumulate=*/false, watch);
  recurrent_.forward(rows, lane.h.data(), lane.gates.data(), /*accumulate=*/true, watch);
  LstmStep now;
  now.hidden = size;
  now.count = rows;
  now.gates = lane.gates.data();
  now.c = lane.c.data();
  now.c_before = lane.c.data();
  now.tanh_c = lane.x.data();  // not kept
  now.y = lane.h.data();
  now.y_stride = size;
  now.token_row = lane.place.data();
  lstm_forward(now, /*keep=*/false);
  watch.lap(Part::kLoops);
  scores_.forward(rows, lane.h.data(), lane.scores.data(), /*accumulate=*/false, watch);
  std::int64_t going = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto from = static_cast<std::size_t>(r);
    const float* row = lane.scores.data() + r * scores_.outputs();
    const auto symbol = static_cast<std::int32_t>(std::max_element(row, row + scores_.outputs()) - row);
    sum += symbol;
    if (symbol == Decoder::kEnd || --lane.left[from] == 0) continue;
    const auto to = static_cast<std::size_t>(going);
    lane.symbol[to] = symbol;
    lane.left[to] = lane.left[from];
    if (going < r) {
      std::copy_n(lane.h.data() + r * size, size, lane.h.data() + going * size);
      std::copy_n(lane.c.data() + r * size, size, lane.c.data() + going * size);
    }
    ++going;
  }
  watch.lap(Part::kLoops);
  return going;
}

}  // namespace espalier::bench
