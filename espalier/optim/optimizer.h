/// Optimizer: changes the parameters of a Model by their gradients. The rules are in the files beside this one.
///
///   optim::Adam adam(model, {.learning_rate = 1e-3, .clip_norm = 5});
///   loss.backward();
///   adam.step();                          // uses model.gradients() and clears them
///
/// or both at once: adam.minimise(loss).
///
/// Tables whose gradient is single rows: only those rows of the table and of the optimizer's state are read or written,
/// so a step costs as much as the rows used, and the others keep their bits. Momentum, averages and weight decay of a
/// row therefore stand still while the row is not used. Counts of steps, as in Adam's correction of its averages,
/// belong to the parameter: the steps in which it had any gradient.
///
/// Frozen parameters are skipped. The gradient of a parameter is first multiplied by parameter.gradient_scale; clipping
/// comes after that. The learning rate of a parameter is learning_rate * schedule(step) *
/// parameter.learning_rate_scale.
///
/// Thread safety: a step excludes all readers of the model's parameters.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/expr.h"
#include "espalier/nn/model.h"
#include "espalier/nn/safetensors.h"
#include "espalier/optim/schedule.h"
#include "espalier/tensor/tensor.h"

namespace espalier::optim {

/// Scales the gradients so that their norm is at most `max_norm`. Returns the norm before. Refuses a norm that is not
/// finite, naming a parameter whose gradient is not; the gradients are unchanged then.
ESPALIER_EXPORT double clip_by_norm(Gradients& gradients, double max_norm);

inline constexpr std::size_t kMaxSlots = 2;

/// One dense range of a parameter (a part of it, or a row), for a rule to update.
template <class T>
struct Range {
  std::int64_t size;
  T* value;
  const T* gradient;
  std::array<T*, kMaxSlots> slots;  // the rule's own numbers, one for each of the parameter's; zeros at first
  double learning_rate;
  std::array<double, 2> corrections;  // what corrections() gave for this step
};

class ESPALIER_EXPORT Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates by the model's own gradients, then clears them. With clip_norm, refuses (UsageError) gradients that are
  /// not finite, as clip_by_norm() does: no parameter has changed then, and the gradients are still there to be looked
  /// at. Without it nothing is checked.
  void step() { step(model().gradients()); }
  /// The same by other gradients; those of parameters that are not the model's have no effect.
  void step(Gradients& gradients);
  /// The same by the sum of several, those of the parts of a minibatch: see train::Lanes. Where the rule is to add the
  /// gradient times a number, each is added by itself, and no sum is made. Refuses (UsageError) none at all.
  void step(std::span<Gradients* const> parts);
  /// Differentiates the loss and makes a step by its gradients and those that the model has already. Gradients of
  /// parameters that are not the model's are not kept. The numbers are those of loss.backward() and step() but for
  /// rounding: where the rule is to add the gradient times a number, as that of plain Sgd is, most parameters are
  /// changed as their gradients are computed, which saves two passes over them.
  void minimise(const Expr& loss);

  double learning_rate() const { return learning_rate_; }
  /// Refuses rates that are negative or not finite.
  void set_learning_rate(double rate);
  /// The factor of the learning rate for each step, the first being step 0. 1 until then.
  void set_schedule(Schedule schedule);
  /// How many steps were made.
  std::int64_t steps() const { return steps_; }
  /// The norm of the gradients in the last step, before clipping. 0 without clip_norm.
  double last_norm() const { return last_norm_; }
  /// Refuses (UsageError) a model that was destroyed; so does everything above that uses it.
  Model& model() const;
  /// The optimizer as text, such as "sgd(learning_rate=0.01, momentum=0.9, ...)": optim::parse() reads it.
  virtual std::string to_string() const { return name_; }

  /// All that a later run needs to go on with the same bits, apart from the parameters and the schedule: the averages
  /// and sums as "adam.m/cell.W", the steps of each parameter as "adam.steps/cell.W", and "adam.steps",
  /// "adam.learning_rate".
  NamedTensors state() const;
  /// The reverse. Refuses (UsageError) tensors of another optimizer, of parameters that the model does not have, of
  /// other shapes, and incomplete ones; nothing has changed then.
  void set_state(const NamedTensors& state);

 protected:
  /// `slots` names what the rule keeps for each number of a parameter: none to kMaxSlots of them. A clip_norm of 0 is
  /// no clipping.
  Optimizer(Model& model, std::string name, std::vector<std::string> slots, double learning_rate, double clip_norm);

  /// Whether the rule is: value -= learning rate * gradient.
  virtual bool adds_gradients() const { return false; }
  /// Numbers that depend only on how many steps a parameter has had, this one included.
  virtual std::array<double, 2> corrections(std::int64_t step) const;
  /// The rule. Called for disjoint ranges, from several threads at once.
  virtual void update(const Range<float>& range) const = 0;
  virtual void update(const Range<double>& range) const = 0;

  /// Refuses, naming optimizer and option, what is not from `low` to `high`.
  void require_option(std::string_view option, double value, double low, double high) const;

 private:
  struct Slots {
    std::vector<Tensor> tensors;
    std::int64_t steps = 0;
  };
  class Values;
  Slots empty_slots(const Parameter& parameter) const;
  /// Those of a parameter that makes a step now.
  Slots& next_slots(const Parameter& parameter);
  /// The learning rate of this step.
  double rate_now() const;
  /// Whether gradients are only added, one by one, so that their scale may be a part of the rate. Otherwise they are
  /// summed and scaled first.
  bool scales_in_rate() const { return adds_gradients() && !(clip_norm_ > 0); }
  void update_by(Parameter& parameter, const Gradient& gradient, Slots& slots, double rate);
  template <class T>
  void update_parameter(Parameter& parameter, const Gradient& gradient, Slots& slots, double rate) const;

  Model& model_;
  std::weak_ptr<const void> lifetime_;  // of the model
  std::string name_;
  std::vector<std::string> slot_names_;
  double learning_rate_;
  double clip_norm_;
  Schedule schedule_;
  std::int64_t steps_ = 0;
  double last_norm_ = 0;
  std::unordered_map<std::uint64_t, Slots> slots_;  // by the uid of the parameter
  Gradients scaled_;                                // of minimise(); its memory is kept
};

}  // namespace espalier::optim
