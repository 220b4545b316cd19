/// StandardModel: one of the models of this folder together with its data, as the Trainer and the command use it.
///
///   auto model = models::make("sentiment");
///   model->settings().at("hidden").assign_text("64");
///   model->read_data(models::find_data("sst"));                 // train.txt, dev.txt, test.txt
///   model->build(/*seed=*/1);                                   // vocabulary and network
///   train::Trainer trainer(model->weights(), *model, {.folder = "run", .epochs = 10});
///   model->save("run");                                         // model.json: all that is needed beside the weights
///   trainer.run();
///   ...
///   auto trained = models::load("run");
///   trained->predict(data::Input("new.txt"), {}, [](const Value& answer) { ... });
///
/// Thread safety: as train::Task.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/data/input.h"
#include "espalier/data/record_reader.h"
#include "espalier/data/value.h"
#include "espalier/models/form.h"
#include "espalier/models/settings.h"
#include "espalier/nn/model.h"
#include "espalier/train/task.h"

namespace espalier::models {

/// Files or folders of each split, by number of the split. Without held-out or test data, shares of the training data
/// are set apart, chosen by the settings `held_out`, `test` and `split_seed`.
using DataPlaces = std::array<std::vector<std::filesystem::path>, 3>;

/// The data of a path: a file is training data; in a folder, names decide: those with "train" in them, with "dev",
/// "valid" or "trial", and with "test". Without any of these the folder itself is training data. Refuses (UsageError) a
/// folder with other parts but no training data, and one where a split could be any of several entries, naming them;
/// (ResourceError) a path that does not exist.
ESPALIER_EXPORT DataPlaces find_data(const std::filesystem::path& path);

struct PredictOptions {
  /// What the records are: as the training data, or one JSON object per line.
  bool json_lines = false;
  /// Records that are computed together; a few such groups are in memory at a time.
  std::int64_t batch = 64;
  data::ReadOptions read = {};  // NOLINT(readability-redundant-member-init): may be left out
};

class ESPALIER_EXPORT StandardModel : public train::Task {
 public:
  ~StandardModel() override;

  virtual std::string_view name() const = 0;
  /// To be changed before build(). The list refers to the model.
  SettingList settings();

  /// How instances are recorded, where a model has a choice: Form::kRows by default, which is faster. Call it before
  /// build().
  void record_as(Form form) { form_ = form; }

  /// Reads the data; see DataPlaces. Returns what was left out as damaged. Refuses what the readers refuse, and no
  /// training data (DataError).
  virtual data::ReadReport read_data(const DataPlaces& places, const data::ReadOptions& options = {}) = 0;
  /// Reads a file or folder as the test data of a model that is built or loaded; other data are dropped. Of a folder
  /// with several parts the test part counts.
  virtual data::ReadReport read_test(const std::filesystem::path& path, const data::ReadOptions& options = {}) = 0;
  /// Makes vocabularies, labels and the network from the training data; its initial weights depend on the seed.
  virtual void build(std::uint64_t seed) = 0;
  /// The weights. Only after build() or load().
  Model& weights() const { return *weights_; }

  /// Answers to the records of an input, in its order: `done` gets a JSON object per record. Computed in groups, so
  /// that the first answers come before the last record was read.
  virtual data::ReadReport predict(data::Input input, const PredictOptions& options,
                                   const std::function<void(const Value& answer)>& done) const = 0;

  /// Records the outputs of the first `most` records of an input, which predict() would read: one Expr per record.
  virtual std::vector<Expr> record_outputs(Graph& graph, data::Input input, const PredictOptions& options,
                                           std::int64_t most) const = 0;
  /// Records as JSON that together use all ops and shapes of the network, for exporting it (onnx/onnx.h): made from
  /// vocabularies and settings. Empty for a model that cannot tell.
  virtual std::vector<Value> samples() const { return {}; }
  /// Why no static graph can compute the answers, as a sentence without its end. Empty for a model that can be
  /// exported.
  virtual std::string_view why_not_exported() const { return {}; }

  /// What save() writes.
  Value description();
  /// Writes `model.json` into a folder, which it makes if it is missing: settings, vocabularies, labels, all that
  /// load() needs beside the weights.
  void save(const std::filesystem::path& folder);

  /// A few words on data and network, one fact a line.
  virtual std::string describe() const = 0;

 protected:
  friend ESPALIER_EXPORT std::unique_ptr<StandardModel> restore(const Value& description, std::string_view source,
                                                                Form form);

  /// The settings of the model itself.
  virtual void list(SettingList& list) = 0;
  /// What build() found out, and the network made from it again.
  virtual Value facts() const = 0;
  virtual void restore(const Value& facts) = 0;

  struct Common {
    double held_out = 0.1;
    double test = 0;
    std::int32_t split_seed = 1;
  };
  const Common& common() const { return common_; }
  Form form() const { return form_; }
  /// The weights from here on.
  Model& set_weights(std::unique_ptr<Model> weights) {
    weights_ = std::move(weights);
    return *weights_;
  }

 private:
  Common common_;
  Form form_ = Form::kRows;
  std::unique_ptr<Model> weights_;
};

/// The names of the models.
ESPALIER_EXPORT std::span<const std::string_view> names();
/// One sentence on what a model does and what it reads.
ESPALIER_EXPORT std::string_view summary_of(std::string_view name);
/// Options with which the command trains it: "--data sst --epochs 6".
ESPALIER_EXPORT std::string_view example_of(std::string_view name);
/// A model of a name, with default settings. Refuses (UsageError), with the nearest name, one that is not there.
ESPALIER_EXPORT std::unique_ptr<StandardModel> make(std::string_view name);
/// The model of a description, which `source` names in errors, with weights still to be loaded. Refuses (DataError)
/// anything else.
ESPALIER_EXPORT std::unique_ptr<StandardModel> restore(const Value& description, std::string_view source,
                                                       Form form = Form::kRows);
/// The model of a folder of a run, with the best weights there: `best.safetensors`, or, in a run without held-out data,
/// `weights.safetensors`. Refuses (ResourceError) files that cannot be read, and (DataError) files of anything else.
ESPALIER_EXPORT std::unique_ptr<StandardModel> load(const std::filesystem::path& folder, Form form = Form::kRows);

}  // namespace espalier::models
