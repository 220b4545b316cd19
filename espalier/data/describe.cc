#include "espalier/data/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "espalier/base/error.h"
#include "espalier/data/conll.h"
#include "espalier/data/conllu.h"
#include "espalier/data/describe_parts.h"
#include "espalier/data/json.h"
#include "espalier/data/listops.h"
#include "espalier/data/query_plan.h"
#include "espalier/data/treebank.h"

namespace espalier::data {

std::string Extent::text() const {
  return count_ == 0 ? "none" : fmt::format("{} to {}, mean {:.1f}", low_, high_, sum_ / static_cast<double>(count_));
}

std::vector<Count> sorted(const Tally& tally) {
  std::vector<Count> counts;
  for (const auto& [name, count] : tally) counts.push_back({name, count});
  std::stable_sort(counts.begin(), counts.end(), [](const Count& a, const Count& b) { return a.count > b.count; });
  return counts;
}

namespace {

std::string text_of(std::size_t number) { return fmt::format("{}", number); }

void describe_treebank(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  TreebankReader reader(path, {}, options);
  Extent words;
  Extent depth;
  Tally labels;
  std::set<std::string, std::less<>> vocabulary;
  bool is_binary = true;
  for (LabelledTree one; reader.next(one);) {
    words.take(std::ssize(one.words));
    std::vector<std::int64_t> depths(static_cast<std::size_t>(one.tree.size()));
    for (std::int32_t node = 0; node < one.tree.size(); ++node) {
      const auto children = one.tree.children(node);
      is_binary = is_binary && (children.empty() || children.size() == 2);
      for (const std::int32_t child : children)
        depths[static_cast<std::size_t>(node)] =
            std::max(depths[static_cast<std::size_t>(node)], depths[static_cast<std::size_t>(child)] + 1);
    }
    depth.take(depths[static_cast<std::size_t>(one.tree.root())]);
    ++labels[one.labels[static_cast<std::size_t>(one.tree.root())]];
    vocabulary.insert(one.words.begin(), one.words.end());
  }
  result.report = reader.report();
  result.facts = {{"trees", fmt::format("{}", reader.report().records)},
                  {"shape", is_binary ? "binary" : "any number of children"},
                  {"words per tree", words.text()},
                  {"depth", depth.text()},
                  {"distinct words", text_of(vocabulary.size())}};
  result.labels_of = "labels of the roots";
  result.labels = sorted(labels);
  result.model = "sentiment";
}

void describe_conllu(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  ConlluReader reader(path, {.require_tree = false}, options);
  Extent words;
  Tally tags;
  std::set<std::string, std::less<>> vocabulary;
  std::int64_t tokens = 0;
  std::int64_t empty_nodes = 0;
  std::int64_t heads = 0;
  for (ConlluSentence one; reader.next(one);) {
    words.take(std::ssize(one.words));
    tokens += std::ssize(one.tokens);
    empty_nodes += std::ssize(one.empty_nodes);
    for (const ConlluWord& word : one.words) {
      ++tags[word.upos];
      vocabulary.insert(word.form);
      heads += word.head == kNone ? 0 : 1;
    }
  }
  result.report = reader.report();
  result.facts = {
      {"sentences", fmt::format("{}", reader.report().records)}, {"words per sentence", words.text()},
      {"words with a head", fmt::format("{}", heads)},           {"tokens of several words", fmt::format("{}", tokens)},
      {"empty nodes", fmt::format("{}", empty_nodes)},           {"distinct words", text_of(vocabulary.size())}};
  result.labels_of = "parts of speech (UPOS)";
  result.labels = sorted(tags);
  result.model = "tagger";
}

/// The schemes that allow all of the tags so far.
class PossibleSchemes {
 public:
  void take(std::span<const std::string> tags) {
    for (std::optional<TagScheme>& scheme : schemes_)
      if (scheme && find_tag_error(tags, *scheme)) scheme.reset();
  }
  std::string text() const {
    for (const std::optional<TagScheme>& scheme : schemes_)
      if (scheme) return std::string(name_of(*scheme));
    return "none: plain tags";
  }

 private:
  // The strictest first: tags that BIO allows are IOB1 too, if no span follows another one of its type.
  std::array<std::optional<TagScheme>, 4> schemes_{TagScheme::kBioes, TagScheme::kBmes, TagScheme::kBio,
                                                   TagScheme::kIob1};
};

void describe_tagged(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  ConllReader reader(path, {}, options);
  Extent words;
  Tally tags;
  std::set<std::string, std::less<>> vocabulary;
  PossibleSchemes schemes;
  for (TaggedSentence one; reader.next(one);) {
    words.take(std::ssize(one.words));
    schemes.take(one.tags);
    for (const std::string& tag : one.tags) ++tags[tag];
    vocabulary.insert(one.words.begin(), one.words.end());
  }
  result.report = reader.report();
  result.facts = {{"sentences", fmt::format("{}", reader.report().records)},
                  {"words per sentence", words.text()},
                  {"scheme of spans", schemes.text()},
                  {"distinct words", text_of(vocabulary.size())}};
  result.labels_of = "tags (last column)";
  result.labels = sorted(tags);
  result.model = "tagger";
}

void describe_listops(const std::filesystem::path& path, DataDescription& result) {
  ListOpsReader reader(path);
  Extent nodes;
  Extent depth;
  Tally labels;
  while (const std::optional<Tree> tree = reader.next()) {
    ++result.report.records;
    nodes.take(tree->size());
    depth.take(listops_depth(*tree));
    ++labels[fmt::format("{}", tree->label(tree->root()))];
  }
  result.facts = {{"expressions", fmt::format("{}", result.report.records)},
                  {"nodes per expression", nodes.text()},
                  {"depth", depth.text()}};
  result.labels_of = "values";
  result.labels = sorted(labels);
  result.model = "listops";
}

void describe_json(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  LineReader lines(path);
  Tally fields;
  Extent bytes;
  std::string_view line;
  while (lines.next(line)) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    try {
      const Value value = parse_json(line, fmt::format("{}:{}", lines.name(), lines.line_number()));
      if (!value.is_map()) throw lines.error_at(1, fmt::format("expected a map, not {}", name_of(value.kind())));
      for (const Value::Entry& entry : value.entries())
        ++fields[fmt::format("{}: {}", entry.key, name_of(entry.value.kind()))];
    } catch (const DataError& error) {
      if (!options.skip_damaged) throw;
      result.report.add_damaged(error);
      continue;
    }
    ++result.report.records;
    bytes.take(std::ssize(line));
  }
  result.facts = {{"records", fmt::format("{}", result.report.records)}, {"bytes per record", bytes.text()}};
  result.fields = sorted(fields);
  result.model = "json";
}

void describe_plans(const std::filesystem::path& path, const ReadOptions& options, DataDescription& result) {
  QueryPlanReader reader(path, options);
  Extent operators;
  Tally kinds;
  std::int64_t measured = 0;
  for (QueryPlan plan; reader.next(plan); measured += plan.execution_time ? 1 : 0) {
    std::int64_t count = 0;
    for (std::vector<const Value*> open{&plan.root}; !open.empty(); ++count) {
      const Value& node = *open.back();
      open.pop_back();
      ++kinds[std::string(node.at("Node Type").as_string())];
      if (const Value* plans = node.find("Plans"))
        for (const Value& child : plans->items()) open.push_back(&child);
    }
    operators.take(count);
  }
  result.report = reader.report();
  result.facts = {{"plans", fmt::format("{}", reader.report().records)},
                  {"operators per plan", operators.text()},
                  {"plans with a measured time", fmt::format("{}", measured)}};
  result.labels_of = "kinds of operators";
  result.labels = sorted(kinds);
  result.model = "plans";
}

[[noreturn]] void refuse_unknown(const std::filesystem::path& path) {
  LineReader lines(path);
  std::string_view line;
  bool is_filled = false;
  while (!is_filled && lines.next(line)) is_filled = line.find_first_not_of(" \t") != std::string_view::npos;
  if (!is_filled) throw DataError(fmt::format("{}: expected data, but the file is empty", path.string()));
  throw lines.error_at(
      1,
      "expected labelled trees, CoNLL-U, words and tags in columns, ListOps, JSON lines, a table or molecules, but it "
      "looks like none");
}

}  // namespace

std::string_view name_of(DataFormat format) {
  switch (format) {
    case DataFormat::kUnknown: return "unknown";
    case DataFormat::kTreebank: return "labelled trees in brackets";
    case DataFormat::kConllu: return "CoNLL-U";
    case DataFormat::kTagged: return "words and tags in columns";
    case DataFormat::kListOps: return "ListOps";
    case DataFormat::kJsonLines: return "JSON lines";
    case DataFormat::kQueryPlans: return "query plans of PostgreSQL";
    case DataFormat::kSickTable: return "the table of SICK";
    case DataFormat::kSickFolder: return "a folder of SICK with dependencies";
    case DataFormat::kTable: return "a table";
    case DataFormat::kMoleculeTable: return "a table with molecules (SMILES)";
    case DataFormat::kSmiles: return "molecules as lines of SMILES";
    case DataFormat::kSdf: return "molecules as SDF";
  }
  return "";
}

DataDescription describe(const std::filesystem::path& path, const ReadOptions& options) {
  DataDescription result;
  result.format = guess_format(path);
  switch (result.format) {
    case DataFormat::kUnknown: refuse_unknown(path);
    case DataFormat::kTreebank: describe_treebank(path, options, result); break;
    case DataFormat::kConllu: describe_conllu(path, options, result); break;
    case DataFormat::kTagged: describe_tagged(path, options, result); break;
    case DataFormat::kListOps: describe_listops(path, result); break;
    case DataFormat::kJsonLines: describe_json(path, options, result); break;
    case DataFormat::kQueryPlans: describe_plans(path, options, result); break;
    case DataFormat::kSickTable:
    case DataFormat::kSickFolder: describe_sick(path, options, result); break;
    case DataFormat::kTable:
    case DataFormat::kMoleculeTable: describe_table(path, options, result); break;
    case DataFormat::kSmiles:
    case DataFormat::kSdf: describe_molecules(path, options, result); break;
  }
  return result;
}

}  // namespace espalier::data
