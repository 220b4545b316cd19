/// ModelOf: what the standard models have in common, over records as they are read and instances as networks take them.
///
/// A model reads records, learns facts such as vocabularies from those for training, and encodes each as an instance.
/// It records an instance once for training and evaluation, loss and output together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/data/json.h"
#include "espalier/models/standard_model.h"
#include "espalier/train/predict.h"

namespace espalier::models {

/// Gives the next record; false at the end.
template <class Record>
struct RecordSource {
  std::function<bool(Record&)> next;
  std::function<const data::ReadReport&()> report;
  /// RecordReader::refuse() for the newest record.
  std::function<void(const DataError&)> refuse;
};

/// The source of a reader.
template <class Reader>
RecordSource<typename Reader::Record> source_of(std::shared_ptr<Reader> reader) {
  return {[reader](typename Reader::Record& record) { return reader->next(record); },
          [reader]() -> const data::ReadReport& { return reader->report(); },
          [reader](const DataError& error) { reader->refuse(error); }};
}

/// Numbers of records to set apart: shares of the groups, chosen by the seed. Records of one group stay together.
struct SplitShares {
  double held_out = 0;
  double test = 0;
  std::uint64_t seed = 1;
};
/// The split of each record, by its group.
std::vector<train::Split> split_by_group(std::span<const std::string> groups, const SplitShares& shares);

/// {"class": the name of the class with the highest score, "probability": that of it, "probabilities": of all classes
/// by name}
Value class_answer(std::span<const std::string> classes, const Tensor& scores);

/// In a folder with parts by name, as find_data() takes it, the test part; else the path itself.
std::filesystem::path test_part_of(const std::filesystem::path& path);

/// Adds the counts and errors of one report to another.
void add(data::ReadReport& to, const data::ReadReport& from);

template <class Record, class Instance>
class ModelOf : public StandardModel {
 public:
  data::ReadReport read_data(const DataPlaces& places, const data::ReadOptions& options) final {
    data::ReadReport report;
    for (std::size_t split = 0; split < places.size(); ++split) {
      records_[split].clear();
      for (const std::filesystem::path& path : places[split]) read_all(path, options, records_[split], report);
    }
    if (records_[0].empty())
      throw DataError(places[0].empty() ? "there are no training data"
                                        : places[0].front().string() + ": expected training data, and there are none");
    set_apart();
    return report;
  }

  data::ReadReport read_test(const std::filesystem::path& path, const data::ReadOptions& options) final {
    data::ReadReport report;
    records_ = {};
    instances_ = {};
    read_all(test_part_of(path), options, records_[2], report);
    if (records_[2].empty()) throw DataError(path.string() + ": expected records, and there are none");
    for (const Record& record : records_[2]) instances_[2].push_back(encode(record, true));
    return report;
  }

  void build(std::uint64_t seed) final {
    learn(records_[0]);
    set_weights(std::make_unique<Model>(seed));
    make_network(weights());
    for (std::size_t split = 0; split < records_.size(); ++split) {
      instances_[split].clear();
      for (const Record& record : records_[split]) instances_[split].push_back(encode(record, true));
    }
  }

  std::int64_t size(train::Split split) const final { return std::ssize(of(split)); }
  std::int64_t nodes(train::Split split, std::int64_t i) const final { return nodes_of(instance(split, i)); }
  Expr record(Graph& graph, train::Split split, std::int64_t i, std::vector<Expr>& outputs) const final {
    Expr output;
    const Expr loss = loss_of(graph, instance(split, i), output);
    outputs.push_back(output);
    return loss;
  }
  using train::Task::read;
  void read(train::Split split, std::int64_t i, std::span<const Tensor> outputs,
            train::Prediction& prediction) const final {
    read_output(instance(split, i), outputs[0], prediction);
  }
  std::string text(train::Split split, std::int64_t i) const final {
    return text_of(records_[static_cast<std::size_t>(split)][static_cast<std::size_t>(i)]);
  }

  data::ReadReport predict(data::Input input, const PredictOptions& options,
                           const std::function<void(const Value& answer)>& done) const final {
    const RecordSource<Record> asked = source_for(std::move(input), options);
    const std::int64_t most = options.batch * thread_count();
    std::vector<Record> records;
    std::vector<Instance> instances;
    Record record;
    for (bool more = true; more;) {
      records.clear();
      instances.clear();
      while (std::ssize(records) < most && (more = asked.next(record))) {
        try {
          instances.push_back(encode(record, false));
          records.push_back(std::move(record));
        } catch (const DataError& error) {
          asked.refuse(error);
        }
      }
      train::predict_groups(
          std::ssize(records),
          [&](Graph& graph, std::int64_t begin, std::int64_t end) {
            return outputs_of(graph, std::span<const Instance>(instances).subspan(
                                         static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
          },
          [&](std::int64_t i, const Tensor& value) {
            done(answer(records[static_cast<std::size_t>(i)], instances[static_cast<std::size_t>(i)], value));
          });
    }
    return asked.report();
  }

  std::vector<Expr> record_outputs(Graph& graph, data::Input input, const PredictOptions& options,
                                   std::int64_t most) const final {
    const RecordSource<Record> asked = source_for(std::move(input), options);
    std::vector<Expr> outputs;
    for (Record record; std::ssize(outputs) < most && asked.next(record);) {
      graph.begin_instance();
      outputs.push_back(output_of(graph, encode(record, false)));
    }
    return outputs;
  }

 protected:
  /// The records of a file in the model's own format.
  virtual RecordSource<Record> open(data::Input input, const data::ReadOptions& options) const = 0;
  /// Whether open() reads JSON lines too, so that from_json() is not needed for files.
  virtual bool reads_json() const { return false; }
  /// The records of a folder that is one part of the data. Refuses (UsageError) all by default: most formats are files.
  virtual RecordSource<Record> open_folder(const std::filesystem::path& folder, const data::ReadOptions&) const {
    throw UsageError(folder.string() + ": expected a file, or a folder with \"train\" in the name of a file there");
  }
  /// A record from JSON. Throws UsageError where something is missing.
  virtual Record from_json(const Value& value, const std::string& place) const = 0;
  /// Records of one group are never divided between splits. By default each is its own.
  virtual std::string group_of(const Record&, std::size_t number) const { return std::to_string(number); }
  /// A record as one line.
  virtual std::string text_of(const Record& record) const = 0;

  virtual void learn(std::span<const Record> records) = 0;
  virtual void make_network(Model& model) = 0;
  /// `labelled`: refuses (DataError) a record without its labels.
  virtual Instance encode(const Record& record, bool labelled) const = 0;
  virtual std::int64_t nodes_of(const Instance& instance) const = 0;
  virtual Expr output_of(Graph& graph, const Instance& instance) const = 0;
  /// Of several instances, one by one by default.
  virtual std::vector<Expr> outputs_of(Graph& graph, std::span<const Instance> instances) const {
    std::vector<Expr> outputs;
    for (const Instance& instance : instances) {
      graph.begin_instance();
      outputs.push_back(output_of(graph, instance));
    }
    return outputs;
  }
  virtual Expr loss_of(Graph& graph, const Instance& instance, Expr& output) const = 0;
  virtual void read_output(const Instance& instance, const Tensor& output, train::Prediction& prediction) const = 0;
  virtual Value answer(const Record& record, const Instance& instance, const Tensor& output) const = 0;

  const std::vector<Record>& records(train::Split split) const { return records_[static_cast<std::size_t>(split)]; }
  const std::vector<Instance>& of(train::Split split) const { return instances_[static_cast<std::size_t>(split)]; }

  const Instance& instance(train::Split split, std::int64_t i) const { return of(split)[static_cast<std::size_t>(i)]; }

  RecordSource<Record> json_source(data::Input input, const data::ReadOptions& options) const {
    const auto reader = std::make_shared<data::JsonLinesReader>(std::move(input), options);
    return {[this, reader](Record& record) {
              for (Value value; reader->next(value);) {
                try {
                  record = from_json(value, reader->place());
                  return true;
                } catch (const UsageError& error) {
                  reader->refuse(DataError(reader->place() + ": " + error.what()));
                } catch (const DataError& error) {
                  reader->refuse(error);
                }
              }
              return false;
            },
            [reader]() -> const data::ReadReport& { return reader->report(); },
            [reader](const DataError& error) { reader->refuse(error); }};
  }

 private:
  RecordSource<Record> source_for(data::Input input, const PredictOptions& options) const {
    return options.json_lines && !reads_json() ? json_source(std::move(input), options.read)
                                               : source(std::move(input), options.read);
  }
  RecordSource<Record> source(data::Input input, const data::ReadOptions& options) const {
    return input.is_folder() ? open_folder(input.name(), options) : open(std::move(input), options);
  }

  void read_all(const std::filesystem::path& path, const data::ReadOptions& options, std::vector<Record>& to,
                data::ReadReport& report) const {
    const RecordSource<Record> all = source(data::Input(path), options);
    for (Record record; all.next(record);) to.push_back(std::move(record));
    add(report, all.report());
  }

  /// Moves shares of the training records to the splits that have none.
  void set_apart() {
    const SplitShares shares{.held_out = records_[1].empty() ? common().held_out : 0,
                             .test = records_[2].empty() ? common().test : 0,
                             .seed = static_cast<std::uint64_t>(common().split_seed)};
    if (shares.held_out + shares.test == 0) return;
    std::vector<std::string> groups;
    for (std::size_t i = 0; i < records_[0].size(); ++i) groups.push_back(group_of(records_[0][i], i));
    const std::vector<train::Split> splits = split_by_group(groups, shares);
    std::vector<Record> all = std::exchange(records_[0], {});
    for (std::size_t i = 0; i < all.size(); ++i)
      records_[static_cast<std::size_t>(splits[i])].push_back(std::move(all[i]));
  }

  std::array<std::vector<Record>, 3> records_;  // by split
  std::array<std::vector<Instance>, 3> instances_;
};

}  // namespace espalier::models
