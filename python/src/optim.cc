// The optimizers and schedules of espalier.optim.
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <string>

#include "arrays.h"
#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/espalier.h"
#include "espalier/optim/parse.h"
#include "objects.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace espalier::python {

namespace {

using optim::Optimizer;

struct ScheduleObject {
  optim::Schedule schedule;
};

// An argument of set_schedule(): one of the library's, or a function of Python from a step to a factor.
optim::Schedule schedule_of(nb::handle argument) {
  if (nb::isinstance<ScheduleObject>(argument)) return nb::cast<const ScheduleObject&>(argument).schedule;
  const std::shared_ptr<const nb::object> kept(new nb::object(nb::borrow(argument)), [](const nb::object* object) {
    const nb::gil_scoped_acquire acquired;
    delete object;
  });
  return [kept](std::int64_t step) {
    const nb::gil_scoped_acquire acquired;
    return nb::cast<double>((*kept)(step));
  };
}

nb::dict state_of_optimizer(const Optimizer& optimizer) {
  nb::dict state;
  for (const auto& [name, tensor] : optimizer.state()) state[name.c_str()] = array_of(tensor);
  return state;
}

void set_state(Optimizer& optimizer, const nb::dict& state) {
  NamedTensors tensors;
  const nb::object numpy = nb::module_::import_("numpy");
  for (const auto& [key, value] : state) {
    const nb::object array = numpy.attr("asarray")(value);
    tensors.emplace(nb::cast<std::string>(key),
                    tensor_of(array, dtype_named(nb::cast<std::string_view>(array.attr("dtype").attr("name")))));
  }
  optimizer.set_state(tensors);
}

void minimise(Optimizer& optimizer, const NodeRef& loss) {
  run_graph(loss.graph, [&] { optimizer.minimise(loss.expr); });
}

void bind_base(nb::module_& module) {
  nb::class_<Optimizer> type(module, "Optimizer", "Changes the parameters of a model by their gradients.");
  type.def(
      "step",
      [](Optimizer& self) {
        const nb::gil_scoped_release released;
        self.step();
      },
      "Updates by the gradients that backward() added up, then clears them.");
  type.def("minimise", &minimise, "loss"_a,
           "loss.backward() and step() in one, which saves passes over the parameters of some rules.");
  type.def_prop_rw("learning_rate", &Optimizer::learning_rate, &Optimizer::set_learning_rate, "May be changed.");
  type.def(
      "set_schedule", [](Optimizer& self, nb::handle schedule) { self.set_schedule(schedule_of(schedule)); },
      "schedule"_a,
      nb::sig("def set_schedule(self, schedule: Schedule | collections.abc.Callable[[int], float]) -> None"),
      "The factor of the learning rate for each step, the first being step 0.");
  type.def_prop_ro("steps", &Optimizer::steps, "How many steps were made.");
  type.def_prop_ro("last_norm", &Optimizer::last_norm, "The norm of the gradients in the last step, before clipping.");
  type.def("state_dict", &state_of_optimizer, nb::sig("def state_dict(self) -> dict[str, numpy.typing.NDArray]"),
           "All that a later run needs to go on with the same bits, apart from the parameters and the schedule.");
  type.def("load_state_dict", &set_state, "state"_a,
           nb::sig("def load_state_dict(self, state: dict[str, numpy.typing.ArrayLike]) -> None"), "The reverse.");
  type.def("__repr__", [](const Optimizer& self) { return "<espalier.optim: " + self.to_string() + ">"; });
}

// The constructor of a rule, from the fields of its options.
template <class Rule, class Options, class... Fields, class... Arguments>
void bind_rule(nb::module_& module, const char* name, const char* doc, std::tuple<Fields Options::*...> fields,
               Arguments... arguments) {
  nb::class_<Rule, Optimizer>(module, name, doc)
      .def(
          "__init__",
          [fields](Rule* self, Model& model, Fields... values) {
            Options options;
            std::apply([&](auto... members) { ((options.*members = values), ...); }, fields);
            new (self) Rule(model, options);
          },
          "model"_a, nb::kw_only(), arguments..., nb::keep_alive<1, 2>());
}

void bind_rules(nb::module_& module) {
  using namespace optim;
  bind_rule<Sgd, SgdOptions>(module, "Sgd", "Stochastic gradient descent, with momentum and Nesterov's variant of it.",
                             std::tuple(&SgdOptions::learning_rate, &SgdOptions::momentum, &SgdOptions::nesterov,
                                        &SgdOptions::weight_decay, &SgdOptions::clip_norm),
                             "learning_rate"_a = 0.01, "momentum"_a = 0.0, "nesterov"_a = false, "weight_decay"_a = 0.0,
                             "clip_norm"_a = 0.0);
  bind_rule<Adam, AdamOptions>(module, "Adam", "Adam (Kingma and Ba, 2015). Weight decay is added to the gradient.",
                               std::tuple(&AdamOptions::learning_rate, &AdamOptions::beta1, &AdamOptions::beta2,
                                          &AdamOptions::epsilon, &AdamOptions::weight_decay, &AdamOptions::clip_norm),
                               "learning_rate"_a = 0.001, "beta1"_a = 0.9, "beta2"_a = 0.999, "epsilon"_a = 1e-8,
                               "weight_decay"_a = 0.0, "clip_norm"_a = 0.0);
  bind_rule<AdamW, AdamWOptions>(
      module, "AdamW", "AdamW (Loshchilov and Hutter, 2019): weight decay shrinks the value directly.",
      std::tuple(&AdamWOptions::learning_rate, &AdamWOptions::beta1, &AdamWOptions::beta2, &AdamWOptions::epsilon,
                 &AdamWOptions::weight_decay, &AdamWOptions::clip_norm),
      "learning_rate"_a = 0.001, "beta1"_a = 0.9, "beta2"_a = 0.999, "epsilon"_a = 1e-8, "weight_decay"_a = 0.01,
      "clip_norm"_a = 0.0);
  bind_rule<RmsProp, RmsPropOptions>(
      module, "RmsProp", "RMSprop (Tieleman and Hinton, 2012).",
      std::tuple(&RmsPropOptions::learning_rate, &RmsPropOptions::decay, &RmsPropOptions::momentum,
                 &RmsPropOptions::epsilon, &RmsPropOptions::weight_decay, &RmsPropOptions::clip_norm),
      "learning_rate"_a = 0.001, "decay"_a = 0.9, "momentum"_a = 0.0, "epsilon"_a = 1e-8, "weight_decay"_a = 0.0,
      "clip_norm"_a = 0.0);
  bind_rule<Adagrad, AdagradOptions>(module, "Adagrad", "Adagrad (Duchi, Hazan and Singer, 2011).",
                                     std::tuple(&AdagradOptions::learning_rate, &AdagradOptions::epsilon,
                                                &AdagradOptions::weight_decay, &AdagradOptions::clip_norm),
                                     "learning_rate"_a = 0.05, "epsilon"_a = 1e-10, "weight_decay"_a = 0.0,
                                     "clip_norm"_a = 0.0);
  bind_rule<Adadelta, AdadeltaOptions>(
      module, "Adadelta", "Adadelta (Zeiler, 2012).",
      std::tuple(&AdadeltaOptions::learning_rate, &AdadeltaOptions::decay, &AdadeltaOptions::epsilon,
                 &AdadeltaOptions::weight_decay, &AdadeltaOptions::clip_norm),
      "learning_rate"_a = 1.0, "decay"_a = 0.95, "epsilon"_a = 1e-6, "weight_decay"_a = 0.0, "clip_norm"_a = 0.0);
  bind_rule<Ftrl, FtrlOptions>(module, "Ftrl", "FTRL-Proximal (McMahan et al., 2013).",
                               std::tuple(&FtrlOptions::learning_rate, &FtrlOptions::beta, &FtrlOptions::l1,
                                          &FtrlOptions::l2, &FtrlOptions::clip_norm),
                               "learning_rate"_a = 0.05, "beta"_a = 1.0, "l1"_a = 0.0, "l2"_a = 0.0,
                               "clip_norm"_a = 0.0);
  module.def("parse", &parse, "model"_a, "text"_a, nb::keep_alive<0, 1>(),
             "The optimizer of a text such as \"adam(lr=3e-4, weight_decay=0.01)\".");
}

void bind_schedules(nb::module_& module) {
  nb::class_<ScheduleObject>(module, "Schedule", "The factor of the learning rate in each step; call it with a step.")
      .def(
          "__call__", [](const ScheduleObject& self, std::int64_t step) { return self.schedule(step); }, "step"_a);
  using Made = ScheduleObject;
  module.def(
      "constant_rate", [](double factor) { return Made{optim::constant_rate(factor)}; }, "factor"_a = 1.0,
      "The same factor in every step.");
  module.def(
      "step_decay", [](std::int64_t every, double factor) { return Made{optim::step_decay(every, factor)}; }, "every"_a,
      "factor"_a, "1, and `factor` times that after each `every` steps.");
  module.def(
      "exponential_decay",
      [](std::int64_t every, double factor) { return Made{optim::exponential_decay(every, factor)}; }, "every"_a,
      "factor"_a, "factor ** (step / every), without jumps.");
  module.def(
      "inverse_time_decay", [](double rate) { return Made{optim::inverse_time_decay(rate)}; }, "rate"_a,
      "1 / (1 + rate * step).");
  module.def(
      "cosine_decay", [](std::int64_t steps, double floor) { return Made{optim::cosine_decay(steps, floor)}; },
      "steps"_a, "floor"_a = 0.0, "Half a cosine from 1 down to `floor` in `steps` steps.");
  module.def(
      "linear_warmup",
      [](std::int64_t steps, nb::handle then) { return Made{optim::linear_warmup(steps, schedule_of(then))}; },
      "steps"_a, "then"_a,
      nb::sig("def linear_warmup(steps: int, then: Schedule | collections.abc.Callable[[int], float]) -> Schedule"),
      "Rises to the first factor of `then` in `steps` steps; after them `then`, from its step 0.");
}

}  // namespace

void bind_optim(nb::module_& module) {
  nb::module_ optim = module.def_submodule("optimizers", "Optimizers and schedules of the learning rate.");
  bind_base(optim);
  bind_rules(optim);
  bind_schedules(optim);
}

}  // namespace espalier::python
