#include "espalier/train/predict.h"

#include <map>
#include <mutex>
#include <vector>

#include "espalier/train/groups.h"

namespace espalier::train {

void predict(std::int64_t count, const std::function<Expr(Graph& graph, std::int64_t i)>& output,
             const std::function<void(std::int64_t i, const Tensor& value)>& done) {
  const auto one_by_one = [&](Graph& graph, std::int64_t begin, std::int64_t end) {
    std::vector<Expr> outputs;
    for (std::int64_t i = begin; i < end; ++i) {
      graph.begin_instance(static_cast<std::uint64_t>(i));
      outputs.push_back(output(graph, i));
    }
    return outputs;
  };
  predict_groups(count, one_by_one, done);
}

void predict_groups(std::int64_t count,
                    const std::function<std::vector<Expr>(Graph& graph, std::int64_t begin, std::int64_t end)>& record,
                    const std::function<void(std::int64_t i, const Tensor& value)>& done) {
  std::mutex mutex;
  std::map<std::int64_t, std::vector<Tensor>> groups;  // by their first instance
  for_each_group(
      count,
      [&](Graph& graph, std::int64_t begin, std::int64_t end) {
        const std::vector<Expr> outputs = record(graph, begin, end);
        graph.finish(outputs);
        std::vector<Tensor> values;
        values.reserve(outputs.size());
        for (const Expr& expr : outputs) values.push_back(expr.value());
        const std::scoped_lock lock(mutex);
        groups.emplace(begin, std::move(values));
      },
      [&](std::int64_t, std::int64_t) {
        for (const auto& [begin, values] : groups)
          for (std::size_t i = 0; i < values.size(); ++i) done(begin + static_cast<std::int64_t>(i), values[i]);
        groups.clear();
      });
}

}  // namespace espalier::train
