/// The model "molecules" (models/molecule_net.h): numbers or classes of molecules, from tables with SMILES, SDF or
/// JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "espalier/data/molecule.h"
#include "espalier/data/number_text.h"
#include "espalier/data/text_file.h"
#include "espalier/models/model_of.h"
#include "espalier/models/molecule_features.h"
#include "espalier/models/molecule_net.h"
#include "espalier/models/registry.h"
#include "espalier/models/standard_scale.h"
#include "espalier/models/text_lists.h"
#include "espalier/ops/all.h"
#include "espalier/train/accuracy.h"
#include "espalier/train/number_errors.h"
#include "espalier/train/roc_auc.h"

namespace espalier::models {
namespace {

/// Together they have every kind of bond, atoms with no, one and several neighbours, and one to several atoms.
constexpr std::array<std::string_view, 7> kSampleMolecules{"C",      "CC",       "C=C",        "C#C",
                                                           "C=CC=C", "c1ccccc1", "CC(C)(C)C=O"};

struct MoleculeRecord {
  std::string name;  // SMILES, or the name in an SDF
  data::Molecule molecule;
  std::vector<std::optional<double>> targets;
  std::string place;  // empty if `name` says enough
};

class Molecules final : public ModelOf<MoleculeRecord, Molecule> {
 public:
  std::string_view name() const override { return "molecules"; }
  train::Answers answers() const override {
    return is_classification_ ? train::Answers::kClasses : train::Answers::kNumbers;
  }
  std::vector<std::string> classes() const override {
    return is_classification_ ? std::vector<std::string>{"0", "1"} : std::vector<std::string>{};
  }
  std::vector<Value> samples() const override {
    std::vector<Value> records;
    records.reserve(kSampleMolecules.size());
    for (const std::string_view smiles : kSampleMolecules)
      records.push_back(Value::map({{"smiles", std::string(smiles)}}));
    return records;
  }
  std::string describe() const override {
    return fmt::format("{} of {}; {} elements; {}\n", is_classification_ ? "classes" : "numbers",
                       fmt::join(targets_, ", "), features_.elements(), settings_.network);
  }
  /// Means over the targets, of each over the molecules for which it is known.
  std::vector<train::Metric> measure(std::span<const train::Prediction> predictions) const override {
    std::vector<double> first;
    std::vector<double> second;
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      std::vector<double> expected;
      std::vector<double> predicted;
      std::vector<double> scores;
      for (const train::Prediction& one : predictions) {
        expected.push_back(one.expected[t]);
        predicted.push_back(one.predicted[t]);
        if (is_classification_) scores.push_back(one.scores[t]);
      }
      first.push_back(is_classification_ ? train::roc_auc(expected, scores)
                                         : train::root_mean_squared_error(expected, predicted));
      second.push_back(is_classification_ ? train::accuracy(expected, predicted)
                                          : train::mean_absolute_error(expected, predicted));
    }
    if (is_classification_) return {{"roc_auc", mean_of_known(first)}, {"accuracy", mean_of_known(second)}};
    return {{"rmse", mean_of_known(first), false}, {"mae", mean_of_known(second), false}};
  }

 private:
  void list(SettingList& list) override {
    list.add("targets", target_names_, "columns, or data items of an SDF, to learn, with commas between them");
    list.add("smiles", smiles_, "the column of the molecules");
    list.add("task", task_, "what targets are; auto: classes if all of them are 0 or 1",
             {"auto", "classification", "regression"});
    settings_.list(list);
  }
  Value facts() const override {
    std::vector<Value> targets(targets_.begin(), targets_.end());
    std::vector<Value> scales;
    for (const StandardScale& scale : scales_) scales.push_back(scale.to_value());
    return Value::map({{"targets", Value::list(std::move(targets))},
                       {"classification", is_classification_},
                       {"scales", Value::list(std::move(scales))},
                       {"elements", features_.to_value()}});
  }
  void restore(const Value& facts) override {
    targets_.clear();
    scales_.clear();
    for (const Value& target : facts.at("targets").items()) targets_.emplace_back(target.as_string());
    for (const Value& scale : facts.at("scales").items()) scales_.push_back(StandardScale::from_value(scale));
    if (targets_.empty() || targets_.size() != scales_.size())
      throw UsageError("expected a scale for each target, and at least one");
    is_classification_ = facts.at("classification").as_bool();
    features_ = MoleculeFeatures::from_value(facts.at("elements"));
    is_trained_ = true;
    set_weights(std::make_unique<Model>());
    make_network(weights());
  }

  /// A file is a table, unless its name ends as those of SDF and of lines of SMILES do.
  RecordSource<MoleculeRecord> open(data::Input input, const data::ReadOptions& options) const override {
    const std::string file = input.name();
    if (data::has_ending(file, {".sdf", ".sd", ".mol"})) return open_sdf(std::move(input), options);
    if (data::has_ending(file, {".smi", ".smiles"})) return open_smiles(std::move(input), options);
    const auto reader = std::make_shared<data::MoleculeTableReader>(
        std::move(input),
        data::MoleculeTableOptions{
            .smiles = smiles_, .targets = wanted(), .needs_targets = !is_trained_, .table = data::table_options(file)},
        options);
    if (wanted().empty())
      throw UsageError(
          fmt::format("molecules: the setting \"targets\" must name what is to be learnt; {} has the "
                      "columns \"{}\"",
                      file, fmt::join(reader->columns(), "\", \"")));
    return adapted<data::MoleculeRow>(reader, [](data::MoleculeRow& row) {
      return MoleculeRecord{row.smiles, std::move(row.molecule), std::move(row.targets), {}};
    });
  }
  RecordSource<MoleculeRecord> open_smiles(data::Input input, const data::ReadOptions& options) const {
    const auto reader = std::make_shared<data::SmilesReader>(std::move(input), options);
    return adapted<data::SmilesRecord>(reader, [this](data::SmilesRecord& record) {
      return MoleculeRecord{record.smiles, std::move(record.molecule), no_targets(), {}};
    });
  }
  RecordSource<MoleculeRecord> open_sdf(data::Input input, const data::ReadOptions& options) const {
    const auto number = std::make_shared<std::int64_t>(0);
    const auto reader = std::make_shared<data::SdfReader>(std::move(input), options);
    return adapted<data::SdfRecord>(reader, [this, number](data::SdfRecord& record) {
      MoleculeRecord result{record.name, std::move(record.molecule), no_targets(), fmt::format("record {}", ++*number)};
      for (const auto& [name, text] : record.properties)
        for (std::size_t t = 0; t < wanted().size(); ++t)
          if (name == wanted()[t]) result.targets[t] = number_of(text, name, result);
      return result;
    });
  }
  /// The source of a reader of other records; `convert` may refuse one (DataError).
  template <class From, class Reader, class Convert>
  static RecordSource<MoleculeRecord> adapted(std::shared_ptr<Reader> reader, Convert convert) {
    return {[reader, convert](MoleculeRecord& record) {
              for (From from; reader->next(from);) {
                try {
                  record = convert(from);
                  return true;
                } catch (const DataError& error) {
                  reader->refuse(error);
                }
              }
              return false;
            },
            [reader]() -> const data::ReadReport& { return reader->report(); },
            [reader](const DataError& error) { reader->refuse(error); }};
  }
  static std::optional<double> number_of(const std::string& text, const std::string& name,
                                         const MoleculeRecord& record) {
    const std::optional<double> number = data::number_in<double>(text);
    if (!number && !text.empty())
      throw DataError(fmt::format("molecule {} ({}): expected a number in the data item {}, not {}",
                                  data::quoted(record.name), record.place, name, data::quoted(text)));
    return number;
  }
  MoleculeRecord from_json(const Value& value, const std::string& place) const override {
    MoleculeRecord record{std::string(value.at("smiles").as_string()), {}, no_targets(), place};
    record.molecule = data::parse_smiles(record.name, place);
    for (std::size_t t = 0; t < wanted().size(); ++t)
      if (const Value* found = value.find(wanted()[t]); found != nullptr && !found->is_null())
        record.targets[t] = found->as_float();
    return record;
  }
  std::string text_of(const MoleculeRecord& record) const override {
    return record.name.empty() ? record.place : record.name;
  }

  void learn(std::span<const MoleculeRecord> records) override {
    targets_ = comma_list(target_names_);
    if (targets_.empty()) throw UsageError("molecules: the setting \"targets\" must name what is to be learnt");
    WordCounts elements;
    bool all_are_0_or_1 = true;
    scales_.clear();
    for (const MoleculeRecord& record : records) MoleculeFeatures::count(record.molecule, elements);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      std::vector<double> numbers;
      for (const MoleculeRecord& record : records) {
        numbers.push_back(record.targets[t].value_or(std::numeric_limits<double>::quiet_NaN()));
        all_are_0_or_1 = all_are_0_or_1 && is_0_or_1(numbers.back());
      }
      scales_.push_back(scale_of(numbers));
    }
    is_classification_ = task_ == "classification" || (task_ == "auto" && all_are_0_or_1);
    if (is_classification_ && !all_are_0_or_1)
      throw DataError("molecules: targets are classes, and should be 0, 1 or blank, but others occur");
    features_ = MoleculeFeatures(elements);
    is_trained_ = true;
  }
  void make_network(Model& model) override {
    net_.emplace(model, settings_, features_.counts(static_cast<std::int32_t>(targets_.size())));
  }
  Molecule encode(const MoleculeRecord& record, bool labelled) const override {
    Molecule molecule = features_.encode(record.molecule);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const double target = record.targets[t].value_or(std::numeric_limits<double>::quiet_NaN());
      molecule.targets.push_back(static_cast<float>(is_classification_ ? target : scales_[t].scaled(target)));
    }
    const auto is_known = [](const std::optional<double>& target) { return target.has_value(); };
    if (labelled && std::none_of(record.targets.begin(), record.targets.end(), is_known))
      throw DataError(fmt::format("molecule {}{}: expected a number for {}, and there is none",
                                  data::quoted(record.name), record.place.empty() ? "" : " (" + record.place + ")",
                                  fmt::join(targets_, " or ")));
    return molecule;
  }
  std::int64_t nodes_of(const Molecule& molecule) const override { return std::ssize(molecule.atoms); }

  Expr output_of(Graph& graph, const Molecule& molecule) const override { return net_->output(graph, molecule); }
  Expr loss_of(Graph& graph, const Molecule& molecule, Expr& output) const override {
    output = net_->output(graph, molecule);
    return is_classification_ ? MoleculeNet::classification_loss(output, molecule.targets)
                              : MoleculeNet::regression_loss(output, molecule.targets);
  }
  void read_output(const Molecule& molecule, const Tensor& output, train::Prediction& prediction) const override {
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const double score = output.at(static_cast<std::int64_t>(t));
      const double target = static_cast<double>(molecule.targets[t]);
      prediction.expected.push_back(is_classification_ ? target : scales_[t].original(target));
      prediction.predicted.push_back(is_classification_ ? (score > 0 ? 1 : 0) : scales_[t].original(score));
      if (is_classification_) prediction.scores.push_back(score);
    }
  }
  Value answer(const MoleculeRecord&, const Molecule&, const Tensor& output) const override {
    std::vector<Value::Entry> all;
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const double score = output.at(static_cast<std::int64_t>(t));
      all.push_back({targets_[t], is_classification_ ? 1 / (1 + std::exp(-score)) : scales_[t].original(score)});
    }
    return Value::map({{is_classification_ ? "probabilities" : "values", Value::map(std::move(all))}});
  }

  /// The targets that records have: those to be learnt, or that were learnt.
  std::vector<std::string> wanted() const { return is_trained_ ? targets_ : comma_list(target_names_); }
  std::vector<std::optional<double>> no_targets() const { return std::vector<std::optional<double>>(wanted().size()); }
  static bool is_0_or_1(double x) { return std::isnan(x) || x == 0 || x == 1; }
  static double mean_of_known(std::span<const double> numbers) {
    double sum = 0;
    double count = 0;
    for (const double x : numbers)
      if (!std::isnan(x)) ++count, sum += x;
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / count;
  }

  std::string target_names_;
  std::string smiles_ = "smiles";
  std::string task_ = "auto";
  MoleculeSettings settings_{.readout = "mean", .hidden = 128, .rounds = 3, .dropout = 0.1};
  std::vector<std::string> targets_;
  std::vector<StandardScale> scales_;  // of the targets
  bool is_classification_ = false;
  bool is_trained_ = false;
  MoleculeFeatures features_;
  std::optional<MoleculeNet> net_;
};

}  // namespace

std::unique_ptr<StandardModel> make_molecules() { return std::make_unique<Molecules>(); }

}  // namespace espalier::models
