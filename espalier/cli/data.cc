#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "espalier/cli/commands.h"
#include "espalier/data/describe.h"
#include "espalier/train/terminal.h"

namespace espalier::cli {
namespace {

constexpr std::size_t kMostShown = 20;

struct DescribeOptions {
  std::string file;
  bool skip_damaged = false;
};

void print_fact(std::string_view name, std::string_view value) { fmt::print("  {:<24} {}\n", name, value); }

/// The most frequent ones with a bar, and how many others there are.
void print_counts(std::string_view title, const std::vector<data::Count>& counts) {
  constexpr int kBarWidth = 30;
  if (counts.empty()) return;
  std::int64_t all = 0;
  for (const data::Count& one : counts) all += one.count;
  fmt::print("\n{}: {} different\n", title, counts.size());
  const std::size_t shown = std::min(counts.size(), kMostShown);
  for (const data::Count& one : std::span(counts).first(shown)) {
    std::string line = fmt::format("  {:<24} {:>9} {:5.1f}%  {}", one.name.empty() ? "(none)" : one.name, one.count,
                                   100 * static_cast<double>(one.count) / static_cast<double>(all),
                                   train::bar(static_cast<double>(one.count) / static_cast<double>(counts[0].count),
                                              kBarWidth, train::locale_is_utf8()));
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
  if (shown < counts.size()) fmt::print("  and {} more\n", counts.size() - shown);
}

void print_fields(const std::vector<data::Count>& fields, std::int64_t records) {
  if (fields.empty()) return;
  fmt::print("\nfields: {}\n", fields.size());
  const std::size_t shown = std::min(fields.size(), kMostShown);
  for (const data::Count& field : std::span(fields).first(shown))
    fmt::print("  {:<36} in {:5.1f}% of the records\n", field.name,
               100 * static_cast<double>(field.count) / static_cast<double>(std::max<std::int64_t>(records, 1)));
  if (shown < fields.size()) fmt::print("  and {} more\n", fields.size() - shown);
}

void run_describe(const DescribeOptions& options) {
  const data::DataDescription found = data::describe(options.file, {.skip_damaged = options.skip_damaged});
  fmt::print("{}: {}\n", options.file, data::name_of(found.format));
  for (const auto& [name, value] : found.facts) print_fact(name, value);
  print_counts(found.labels_of, found.labels);
  print_fields(found.fields, found.report.records);
  if (!found.model.empty()) fmt::print("\nfits the model: {}\n", found.model);
  if (found.report.damaged > 0) fmt::print(stderr, "espalier: {}\n", found.report.summary());
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "Inspect data");
  data->require_subcommand(1);
  auto options = std::make_shared<DescribeOptions>();
  CLI::App* command = data->add_subcommand(
      "describe", "Describe a file: format, counts, sizes, labels or fields, and which model fits");
  command->add_option("FILE", options->file, "A file, plain or gzip, or a folder with SICK")->required();
  command->add_flag("--skip-damaged", options->skip_damaged, "Skip damaged records, and say how many");
  command->footer(
      "Formats: labelled trees in brackets, CoNLL-U, words and tags in columns, ListOps, SICK, JSON lines, query "
      "plans,\n"
      "tables, and molecules (SMILES, SDF).\n"
      "Example: espalier data describe train.txt");
  command->callback([options] { run_describe(*options); });
}

}  // namespace espalier::cli
