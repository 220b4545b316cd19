// Training runs: of functions over Python objects, and of the standard models. espalier/training.py and
// espalier/models.py have the classes that users see.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/data/json.h"
#include "espalier/models/run_settings.h"
#include "espalier/models/standard_model.h"
#include "espalier/train/task_of.h"
#include "espalier/train/trainer.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using train::Split;

// One instance of a Python task: an item of a list that the task holds.
struct Item {
  PyObject* object;
};

Split split_named(std::string_view name) {
  for (const Split split : {Split::kTrain, Split::kHeldOut, Split::kTest})
    if (name == train::name_of(split)) return split;
  throw UsageError("split \"" + std::string(name) + "\" is unknown; there are train, held_out and test");
}

// The parts of a task, called by the library's threads, each with the interpreter's lock.
class PythonTask {
 public:
  PythonTask(const nb::list& train, const nb::list& held_out, const nb::list& test, const nb::object& output,
             const nb::object& label, const nb::object& target, const nb::object& loss,
             std::vector<std::string> classes)
      : keep_(nb::make_tuple(train, held_out, test, output, label, target, loss)),
        train_(items(train)),
        held_out_(items(held_out)),
        test_(items(test)) {
    train::TaskParts<Item> parts;
    parts.train = train_;
    parts.held_out = held_out_;
    parts.test = test_;
    parts.classes = std::move(classes);
    parts.output = [output](Graph& graph, const Item& item) {
      const nb::gil_scoped_acquire acquired;
      const TraceScope scope(graph);
      return expr_of(output(nb::handle(item.object)), "output");
    };
    if (!label.is_none()) parts.label = [label](const Item& item) { return number<std::int64_t>(label, item); };
    if (!target.is_none()) parts.target = [target](const Item& item) { return number<double>(target, item); };
    if (!loss.is_none())
      parts.loss = [loss](const Expr& output, const Item& item) {
        const nb::gil_scoped_acquire acquired;
        const TraceScope scope(output.graph());
        return expr_of(loss(NodeRef{output, nb::object()}, nb::handle(item.object)), "loss");
      };
    task_.emplace(std::move(parts));
  }

  const train::Task& task() const { return *task_; }

 private:
  static std::vector<Item> items(const nb::list& list) {
    std::vector<Item> result;
    for (const nb::handle item : list) result.push_back({item.ptr()});
    return result;
  }
  static Expr expr_of(nb::handle result, const char* what) {
    if (!is_expr(result)) throw UsageError(std::string("the function `") + what + "` must return an Expr");
    return node_of(result).expr;
  }
  template <class T>
  static T number(const nb::object& function, const Item& item) {
    const nb::gil_scoped_acquire acquired;
    return nb::cast<T>(function(nb::handle(item.object)));
  }

  nb::tuple keep_;
  std::vector<Item> train_;
  std::vector<Item> held_out_;
  std::vector<Item> test_;
  std::optional<train::TaskOf<Item>> task_;
};

nb::dict metrics_of(const std::vector<train::Metric>& metrics) {
  nb::dict all;
  for (const train::Metric& metric : metrics) all[metric.name.c_str()] = metric.value;
  return all;
}

nb::dict summary_of(const train::EpochSummary& epoch) {
  nb::dict summary;
  summary["epoch"] = epoch.epoch;
  summary["updates"] = epoch.updates;
  summary["loss"] = epoch.loss;
  summary["held_out"] = metrics_of(epoch.held_out);
  summary["is_best"] = epoch.is_best;
  summary["seconds"] = epoch.seconds;
  return summary;
}

// Tells a function of Python about epochs, and lets Ctrl-C stop the run.
class PythonObserver : public train::Observer {
 public:
  PythonObserver(nb::object on_epoch, std::function<void()> on_start)
      : on_epoch_(std::move(on_epoch)), on_start_(std::move(on_start)) {}
  void run_started(const train::RunStarted&) override {
    if (on_start_) on_start_();
  }
  void step_done(const train::StepDone&) override {
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
  void epoch_done(const train::EpochSummary& epoch) override {
    const nb::gil_scoped_acquire acquired;
    if (!on_epoch_.is_none()) on_epoch_(summary_of(epoch));
  }

 private:
  nb::object on_epoch_;
  std::function<void()> on_start_;
};

train::Start start_named(std::string_view name) {
  if (name == "resume_or_begin") return train::Start::kResumeOrBegin;
  if (name == "resume") return train::Start::kResume;
  if (name == "begin") return train::Start::kBegin;
  if (name == "replace") return train::Start::kReplace;
  throw UsageError("start \"" + std::string(name) + "\" is unknown; there are resume_or_begin, resume, begin, replace");
}

// `settings` is a JSON object with the names of models::RunSettings.
train::TrainerOptions options_of(const std::string& settings, std::string folder, std::string_view start) {
  models::RunSettings run;
  models::settings_of(run).assign(data::parse_json(settings, "settings"));
  train::TrainerOptions options = run.trainer_options();
  options.folder = std::move(folder);
  options.start = start_named(start);
  return options;
}

nb::dict train_task(Model& model, const train::Task& task, train::TrainerOptions options, const nb::object& on_epoch,
                    std::function<void()> on_start) {
  PythonObserver observer(on_epoch, std::move(on_start));
  options.observers.push_back(&observer);
  train::RunResult result;
  {
    const nb::gil_scoped_release released;
    train::Trainer trainer(model, task, std::move(options));
    result = trainer.run();
  }
  nb::list history;
  for (const train::EpochSummary& epoch : result.history) history.append(summary_of(epoch));
  nb::dict answer;
  answer["ending"] = nb::cast(std::string(train::name_of(result.ending)));
  answer["message"] = result.message;
  answer["updates"] = result.updates;
  answer["history"] = history;
  answer["best_epoch"] = result.best_epoch;
  answer["best_value"] = result.best_value;
  return answer;
}

nb::dict evaluate_task(const train::Task& task, std::string_view split) {
  const Split of = split_named(split);
  train::Evaluation evaluation;
  {
    const nb::gil_scoped_release released;
    evaluation = train::evaluate(task, of);
  }
  return metrics_of(evaluation.metrics);
}

void bind_python_task(nb::module_& module) {
  nb::class_<PythonTask>(module, "PythonTask", "What training.Trainer makes of its functions.")
      .def(nb::init<const nb::list&, const nb::list&, const nb::list&, const nb::object&, const nb::object&,
                    const nb::object&, const nb::object&, std::vector<std::string>>(),
           "train"_a, "held_out"_a, "test"_a, "output"_a, "label"_a.none(), "target"_a.none(), "loss"_a.none(),
           "classes"_a)
      .def(
          "train",
          [](const PythonTask& self, Model& model, const std::string& settings, std::string folder,
             std::string_view start, const nb::object& on_epoch) {
            return train_task(model, self.task(), options_of(settings, std::move(folder), start), on_epoch, {});
          },
          "model"_a, "settings"_a, "folder"_a, "start"_a, "on_epoch"_a.none())
      .def(
          "evaluate", [](const PythonTask& self, std::string_view split) { return evaluate_task(self.task(), split); },
          "split"_a);
}

using models::StandardModel;

nb::dict train_standard(StandardModel& self, nb::handle data, const std::string& settings, std::string folder,
                        std::string_view start, const nb::object& on_epoch) {
  train::TrainerOptions options = options_of(settings, folder, start);
  {
    const nb::gil_scoped_release released;
    self.read_data(models::find_data(nb::cast<std::string>(data)));
    self.build(options.seed);
  }
  const auto save = [&] {
    if (!folder.empty()) self.save(folder);
  };
  return train_task(self.weights(), self, std::move(options), on_epoch, save);
}

std::vector<std::string> predict(const StandardModel& self, std::string records, bool is_text, bool json_lines) {
  std::vector<std::string> answers;
  const nb::gil_scoped_release released;
  data::Input input = is_text ? data::Input::text(std::move(records), "records") : data::Input(records);
  self.predict(std::move(input), {.json_lines = json_lines},
               [&](const Value& answer) { answers.push_back(answer.to_text()); });
  return answers;
}

void bind_standard_model(nb::module_& module) {
  nb::class_<StandardModel>(module, "StandardModel", "What models.Model is made over.")
      .def("settings", [](StandardModel& self) { return self.settings().to_value().to_text(); })
      .def("assign",
           [](StandardModel& self, const std::string& settings) {
             self.settings().assign(data::parse_json(settings, "settings"));
           })
      .def("train", &train_standard, "data"_a, "settings"_a, "folder"_a, "start"_a, "on_epoch"_a.none())
      .def("read_test",
           [](StandardModel& self, const std::string& path) {
             const nb::gil_scoped_release released;
             self.read_test(path);
           })
      .def("evaluate", [](const StandardModel& self, std::string_view split) { return evaluate_task(self, split); })
      .def("predict", &predict, "records"_a, "is_text"_a, "json_lines"_a)
      .def("describe", &StandardModel::describe)
      .def("name", &StandardModel::name)
      .def("weights", &StandardModel::weights, nb::rv_policy::reference_internal);
  module.def("make_model", &models::make, "name"_a);
  module.def(
      "load_model", [](const std::string& folder) { return models::load(folder); }, "folder"_a);
  nb::dict names;
  for (const std::string_view name : models::names())
    names[nb::cast(std::string(name))] = nb::cast(std::string(models::summary_of(name)));
  module.attr("model_names") = names;
}

}  // namespace

void bind_train(nb::module_& module) {
  nb::module_ training =
      module.def_submodule("runs", "Training runs. Use espalier.Trainer and espalier.models instead.");
  bind_python_task(training);
  bind_standard_model(training);
  module.def(
      "is_training", [] { return current_graph("is_training").graph->options().training; },
      "Whether the current graph is for training; the functions of a Trainer also run for evaluation.");
}

}  // namespace espalier::python
