/// The program `espalier-bench`, which `espalier bench` runs.
#include <fmt/format.h>

#include <memory>

#include "bench/suite/suite.h"
#include "espalier/base/error.h"
#include "espalier/cli/commands.h"
#include "espalier/cli/numbers.h"

namespace {

using namespace espalier;

constexpr std::int64_t kMostInstances = 100'000'000;

/// As they are on the command line.
struct BenchOptions {
  bench::SuiteOptions suite;
  std::vector<std::string> sizes;
  std::vector<std::string> modes{"train", "infer"};
  std::vector<std::string> leaves{"each", "once"};
  std::string data;
  std::string json;
  std::string plot;
  bool list = false;
};

/// "B1=300/150,128/128" names the sizes of a workload; several such add up.
void add_sizes(bench::SuiteOptions& suite, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UsageError(fmt::format("sizes are given as in B1=300/150, not as \"{}\"", text));
  std::vector<std::string>& sizes = suite.sizes[text.substr(0, equals)];
  for (std::size_t begin = equals + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    sizes.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void run_bench(BenchOptions options) {
  if (options.list) return bench::print_workloads();
  bench::SuiteOptions& suite = options.suite;
  for (const std::string& sizes : options.sizes) add_sizes(suite, sizes);
  suite.modes.clear();
  for (const std::string& mode : options.modes)
    suite.modes.push_back(mode == "train" ? bench::Mode::kTrain : bench::Mode::kInfer);
  suite.leaves.clear();
  for (const std::string& leaves : options.leaves)
    suite.leaves.push_back(leaves == "each" ? bench::Leaves::kEach : bench::Leaves::kOnce);
  suite.source.folder = options.data;
  suite.json = options.json;
  suite.plot = options.plot;
  run_suite(suite);
}

void add_options(CLI::App* command) {
  auto options = std::make_shared<BenchOptions>();
  bench::SuiteOptions& suite = options->suite;
  command->add_flag("--list", options->list, "Print the workloads and end");
  command->add_flag("--short", suite.short_form, "Measure less: ends within 3 minutes (the whole: within 30)");
  command->add_option("--workloads", suite.workloads, "Which, as in B1,B2 (default: all)")->delimiter(',');
  command->add_option("--sizes", options->sizes, "Sizes of a workload, as in B1=300/150; may be given several times")
      ->delimiter('\0');
  command->add_option("--batches", suite.batches, "Instances in a minibatch, as in 1,16,64,256")->delimiter(',');
  command->add_option("--modes", options->modes, "train, infer or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"train", "infer"}));
  command->add_option("--threads", suite.threads, "Numbers of threads, as in 1,2 (default: 1 and all)")->delimiter(',');
  command->add_option("--variants", suite.variants, "Some of limit, cells, recursion, plain, unbatched (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"limit", "cells", "recursion", "plain", "unbatched"}));
  command->add_option("--leaves", options->leaves, "Equal leaves computed each for itself, once, or both ways measured")
      ->delimiter(',')
      ->check(CLI::IsMember({"each", "once"}));
  command->add_flag(
      "--products", suite.products,
      "Time the products of cells alone, too, in every setting with one thread (else only in B1 at 300/150, "
      "64 instances, training)");
  command->add_option("--rounds", suite.rounds, "Rounds of each setting (default: as many as its time allows)")
      ->check(cli::whole_number(1, 10'000));
  command->add_option("--seconds", suite.seconds, "Seconds for each setting (default: its share of the whole)")
      ->check(cli::positive_number());
  command
      ->add_option("--data", options->data,
                   "Folder of real data; empty: data is generated (default: ESPALIER_DATA of the environment)")
      ->envname("ESPALIER_DATA");
  command
      ->add_option("--instances", suite.source.generate.count,
                   "Instances to generate (default: as many as the real data has)")
      ->check(cli::whole_number(1, kMostInstances));
  command->add_option("--json", options->json, "Write all figures to this file");
  command->add_option("--plot", options->plot, "Write a plot to this file: .svg, or .html with tables");
  command->callback([options] { run_bench(*options); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measure workloads: written by hand (the limit), with cells, op by op, and one node at a time",
               "espalier bench");
  add_options(&app);
  return cli::run_app(app, {argv + 1, argv + argc});
}
