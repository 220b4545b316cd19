#include "espalier/blocks/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/ops/scale.h"

namespace espalier::blocks {
namespace {

std::int32_t threads_of(const StreamOptions& options) {
  return options.threads == 0 ? thread_count() : options.threads;
}

std::size_t batches_of(std::size_t instances, const StreamOptions& options) {
  const auto batch = static_cast<std::size_t>(options.batch);
  return (instances + batch - 1) / batch;
}

/// Calls work(batch, first, last) for each batch of so many instances, several at once if options say so.
template <class Work>
void for_batches(std::size_t instances, const StreamOptions& options, const Work& work) {
  const auto batch = static_cast<std::int64_t>(options.batch);
  const auto count = static_cast<std::int64_t>(instances);
  const auto batches = static_cast<std::int64_t>(batches_of(instances, options));
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) work(i, i * batch, std::min(count, (i + 1) * batch));
  };
  if (threads_of(options) == 1)
    run(0, batches);
  else
    parallel_for(batches, 1, run);
}

std::vector<const void*> part_of(const std::vector<const void*>& all, std::int64_t begin, std::int64_t end) {
  return {all.begin() + begin, all.begin() + end};
}

void check(const StreamOptions& options) {
  if (options.batch < 1)
    throw UsageError(fmt::format("stream: the batch size must be at least 1, but is {}", options.batch));
  if (options.threads < 0)
    throw UsageError(fmt::format("stream: the number of threads must not be negative, but is {}", options.threads));
}

}  // namespace

std::int64_t instances_at_once(const StreamOptions& options) {
  check(options);
  return static_cast<std::int64_t>(options.batch) * threads_of(options);
}

Computed compute(const Program& program, const std::vector<const void*>& inputs, const StreamOptions& options,
                 std::int64_t first) {
  check(options);
  std::vector<InstanceResult> results(inputs.size());
  std::vector<std::exception_ptr> failures(batches_of(inputs.size(), options));
  for_batches(inputs.size(), options, [&](std::int64_t batch, std::int64_t begin, std::int64_t end) {
    const InstanceOptions instances{options.first_key + static_cast<std::uint64_t>(first + begin), first + begin};
    try {
      std::vector<InstanceResult> part = program.compute_many(part_of(inputs, begin, end), options.graph, instances);
      std::move(part.begin(), part.end(), results.begin() + begin);
    } catch (...) {
      failures[static_cast<std::size_t>(batch)] = std::current_exception();
    }
  });
  const auto failure = std::find_if(failures.begin(), failures.end(), [](const auto& each) { return each != nullptr; });
  if (failure == failures.end()) return {std::move(results), nullptr};
  results.resize(static_cast<std::size_t>((failure - failures.begin()) * options.batch));
  return {std::move(results), *failure};
}

double add_gradients_of(const Program& program, const std::vector<const void*>& inputs, Gradients& to,
                        const StreamOptions& options) {
  check(options);
  if (inputs.empty()) refuse_loss("there are no inputs");
  const std::size_t batches = batches_of(inputs.size(), options);
  const GraphOptions graph_options = options.graph.for_one_step();
  std::vector<Gradients> gradients(batches);
  std::vector<std::optional<double>> losses(batches);  // nothing: its inputs reach no loss() block
  for_batches(inputs.size(), options, [&](std::int64_t batch, std::int64_t begin, std::int64_t end) {
    Graph graph(graph_options);
    const InstanceOptions instances{options.first_key + static_cast<std::uint64_t>(begin), begin};
    const std::optional<Expr> total = program.sum_of_losses(graph, part_of(inputs, begin, end), instances);
    if (!total) return;
    const Expr loss = scale(Operand(*total, program.where()), 1 / static_cast<double>(inputs.size()));
    loss.backward({.into = &gradients[static_cast<std::size_t>(batch)], .wanted = {}});
    losses[static_cast<std::size_t>(batch)] = loss.scalar();
  });
  double loss = 0;
  bool any = false;
  for (std::size_t i = 0; i < batches; ++i) {
    if (!losses[i]) continue;
    to.add(gradients[i]);
    loss += *losses[i];
    any = true;
  }
  if (!any) refuse_loss("the inputs reach no loss() block");
  return loss;
}

}  // namespace espalier::blocks
