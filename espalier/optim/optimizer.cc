#include "espalier/optim/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "espalier/base/denormals.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"

namespace espalier::optim {
namespace {

constexpr std::int64_t kGrainElements = 1 << 15;  // below that a thread costs more than it saves

template <class F>
void visit_float(DType dtype, const F& f) {
  if (dtype == DType::kFloat64)
    f(double{});
  else
    f(float{});
}

[[noreturn]] void refuse_norm(const Gradients& gradients, double norm) {
  for (const Gradient* gradient : gradients.all()) {
    bool finite = true;
    visit_float(gradient->values().dtype(), [&]<class T>(T) {
      const std::span<const T> values = gradient->values().as<T>();
      finite = std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
    });
    if (!finite)
      throw UsageError(
          fmt::format("clip_by_norm: the gradient of parameter \"{}\" is not finite", gradient->parameter->name()));
  }
  throw UsageError(fmt::format("clip_by_norm: the norm of the gradients is {}", norm));
}

double require_finite_norm(const Gradients& gradients) {
  const double norm = gradients.norm();
  if (!std::isfinite(norm)) refuse_norm(gradients, norm);
  return norm;
}

void require_rate(double rate) {
  if (!(rate >= 0) || !std::isfinite(rate))
    throw UsageError(fmt::format("optimizer: the learning rate must be 0 or more and finite, not {}", rate));
}

Tensor scalar(DType dtype, double value) { return Tensor::filled(Shape{}, value, dtype); }

}  // namespace

double clip_by_norm(Gradients& gradients, double max_norm) {
  if (!(max_norm > 0)) throw UsageError(fmt::format("clip_by_norm: the norm must be above 0, not {}", max_norm));
  const double norm = require_finite_norm(gradients);
  if (norm > max_norm) gradients.scale(max_norm / norm);
  return norm;
}

Optimizer::Optimizer(Model& model, std::string name, std::vector<std::string> slots, double learning_rate,
                     double clip_norm)
    : model_(model),
      lifetime_(model.lifetime()),
      name_(std::move(name)),
      slot_names_(std::move(slots)),
      learning_rate_(learning_rate),
      clip_norm_(clip_norm) {
  if (slot_names_.size() > kMaxSlots) throw InternalError("optimizer: too many slots");
  require_rate(learning_rate);
  if (!(clip_norm >= 0)) throw UsageError(fmt::format("{}: clip_norm must be 0 or more, not {}", name_, clip_norm));
}

Optimizer::~Optimizer() = default;

std::array<double, 2> Optimizer::corrections(std::int64_t) const { return {1, 1}; }

void Optimizer::require_option(std::string_view option, double value, double low, double high) const {
  if (!(value >= low && value <= high))
    throw UsageError(high == std::numeric_limits<double>::max()
                         ? fmt::format("{}: {} must be {} or more and finite, not {}", name_, option, low, value)
                         : fmt::format("{}: {} must be from {} to {}, not {}", name_, option, low, high, value));
}

Model& Optimizer::model() const {
  if (lifetime_.expired())
    throw UsageError(fmt::format("{}: the Model that this optimizer updates was destroyed", name_));
  return model_;
}

void Optimizer::set_learning_rate(double rate) {
  require_rate(rate);
  learning_rate_ = rate;
}

void Optimizer::set_schedule(Schedule schedule) { schedule_ = std::move(schedule); }

Optimizer::Slots Optimizer::empty_slots(const Parameter& parameter) const {
  Slots slots;
  for (std::size_t i = 0; i < slot_names_.size(); ++i)
    slots.tensors.emplace_back(parameter.shape(), parameter.value().dtype());
  return slots;
}

template <class T>
void Optimizer::update_parameter(Parameter& parameter, const Gradient& gradient, Slots& slots, double rate) const {
  T* const values = parameter.mutable_value().as<T>().data();
  const T* const gradients = gradient.values().as<T>().data();
  std::array<T*, kMaxSlots> slot_values{};
  for (std::size_t i = 0; i < slots.tensors.size(); ++i) slot_values[i] = slots.tensors[i].as<T>().data();
  const std::array<double, 2> corrected = corrections(slots.steps);
  const auto range = [&](std::int64_t at, std::int64_t gradient_at, std::int64_t size) {
    Range<T> result{size, values + at, gradients + gradient_at, {}, rate, corrected};
    for (std::size_t i = 0; i < slots.tensors.size(); ++i) result.slots[i] = slot_values[i] + at;
    return result;
  };
  if (!gradient.sparse) {
    parallel_for(parameter.shape().elements(), kGrainElements,
                 [&](std::int64_t begin, std::int64_t end) { update(range(begin, begin, end - begin)); });
    return;
  }
  const std::int64_t width = gradient.row_width();
  const std::int64_t grain_rows = kGrainElements / std::max<std::int64_t>(width, 1) + 1;
  parallel_for(static_cast<std::int64_t>(gradient.rows.size()), grain_rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      update(range(gradient.rows[static_cast<std::size_t>(i)] * width, i * width, width));
  });
}

double Optimizer::rate_now() const {
  const double rate = learning_rate_ * (schedule_ ? schedule_(steps_) : 1.0);
  require_rate(rate);
  return rate;
}

Optimizer::Slots& Optimizer::next_slots(const Parameter& parameter) {
  auto place = slots_.find(parameter.uid());
  if (place == slots_.end()) place = slots_.emplace(parameter.uid(), empty_slots(parameter)).first;
  Slots& slots = place->second;
  const DType dtype = parameter.value().dtype();
  for (Tensor& tensor : slots.tensors)
    if (tensor.dtype() != dtype) tensor = tensor.to(dtype);  // the model was converted
  ++slots.steps;
  return slots;
}

void Optimizer::update_by(Parameter& parameter, const Gradient& gradient, Slots& slots, double rate) {
  visit_float(parameter.value().dtype(), [&]<class T>(T) {
    const double scale = parameter.learning_rate_scale * (scales_in_rate() ? parameter.gradient_scale : 1.0);
    update_parameter<T>(parameter, gradient, slots, rate * scale);
  });
}

void Optimizer::step(Gradients& gradients) {
  Gradients* const only = &gradients;
  step({&only, 1});
}

void Optimizer::step(std::span<Gradients* const> parts) {
  if (parts.empty()) throw UsageError("optimizer: a step by no gradients");
  const std::span<Parameter* const> parameters = model().parameters();
  const FlushDenormals flush;
  const double rate = rate_now();
  if (!scales_in_rate()) {
    for (Gradients* part : parts.subspan(1)) {
      parts[0]->add(*part);
      part->clear();
    }
    parts = parts.first(1);
  }
  if (!scales_in_rate()) {
    if (clip_norm_ > 0) require_finite_norm(*parts[0]);  // before anything has changed
    parts[0]->scale_by_parameter();
  }
  if (clip_norm_ > 0) last_norm_ = clip_by_norm(*parts[0], clip_norm_);
  for (Parameter* parameter : parameters) {
    if (parameter->frozen) continue;
    Slots* slots = nullptr;
    for (const Gradients* part : parts)
      if (const Gradient* gradient = part->find(*parameter)) {
        if (slots == nullptr) slots = &next_slots(*parameter);
        update_by(*parameter, *gradient, *slots, rate);
      }
  }
  ++steps_;
  for (Gradients* part : parts) part->clear();
}

/// The parameters of the model, each of which makes its step when its gradient is added to it.
class Optimizer::Values : public ParameterValues {
 public:
  explicit Values(Optimizer& optimizer) : optimizer_(optimizer) {}

  float* open(const Parameter& parameter) override {
    // That of a rate of its own comes later, and those of other models not at all.
    if (parameter.gradients != &optimizer_.model_.gradients() || parameter.learning_rate_scale != 1 ||
        parameter.gradient_scale != 1)
      return nullptr;
    changed_.push_back(&parameter);
    auto& own = const_cast<Parameter&>(parameter);  // the model's, which is ours to change
    return own.mutable_value().as<float>().data();
  }
  const std::vector<const Parameter*>& changed() const { return changed_; }

 private:
  Optimizer& optimizer_;
  std::vector<const Parameter*> changed_;
};

void Optimizer::minimise(const Expr& loss) {
  Gradients& gradients = model().gradients();
  if (!scales_in_rate() || !gradients.empty()) {
    loss.backward({.into = &gradients, .wanted = {}});
    step(gradients);
    return;
  }
  const double rate = rate_now();
  scaled_.clear();
  Values values(*this);
  loss.backward({.into = &scaled_, .factor = -rate, .values = &values, .wanted = {}});
  const FlushDenormals flush;
  for (const Parameter* parameter : values.changed())
    if (scaled_.find(*parameter) == nullptr) next_slots(*parameter);
  // What was not added, or not all of it.
  for (Parameter* parameter : scaled_.empty() ? std::span<Parameter* const>() : model().parameters())
    if (const Gradient* gradient = parameter->frozen ? nullptr : scaled_.find(*parameter))
      update_by(*parameter, *gradient, next_slots(*parameter), -1);
  ++steps_;
}

NamedTensors Optimizer::state() const {
  NamedTensors result;
  result.emplace(name_ + ".learning_rate", scalar(DType::kFloat64, learning_rate_));
  result.emplace(name_ + ".steps", scalar(DType::kFloat64, static_cast<double>(steps_)));
  for (const Parameter* parameter : model().parameters()) {
    const auto place = slots_.find(parameter->uid());
    if (place == slots_.end()) continue;
    for (std::size_t i = 0; i < slot_names_.size(); ++i)
      result.emplace(fmt::format("{}.{}/{}", name_, slot_names_[i], parameter->name()), place->second.tensors[i]);
    result.emplace(fmt::format("{}.steps/{}", name_, parameter->name()),
                   scalar(DType::kFloat64, static_cast<double>(place->second.steps)));
  }
  return result;
}

void Optimizer::set_state(const NamedTensors& state) {
  std::set<std::string, std::less<>> used;
  const auto take = [&](const std::string& key, const Shape& shape) -> const Tensor& {
    const auto found = state.find(key);
    if (found == state.end()) throw UsageError(fmt::format("{}: the state lacks \"{}\"", name_, key));
    if (found->second.shape() != shape)
      throw UsageError(fmt::format("{}: \"{}\" of the state has shape {} where {} is needed", name_, key,
                                   found->second.shape().to_string(), shape.to_string()));
    used.insert(key);
    return found->second;
  };
  const auto take_count = [&](const std::string& key) {
    constexpr double kMostSteps = 0x1p53;
    const double count = take(key, Shape{}).item();
    if (!(count >= 0 && count <= kMostSteps) || count != std::floor(count))
      throw UsageError(fmt::format("{}: \"{}\" of the state must be a whole number from 0, not {}", name_, key, count));
    return static_cast<std::int64_t>(count);
  };

  const double learning_rate = take(name_ + ".learning_rate", Shape{}).item();
  require_rate(learning_rate);
  const std::int64_t steps = take_count(name_ + ".steps");
  std::unordered_map<std::uint64_t, Slots> slots;
  for (const Parameter* parameter : model().parameters()) {
    const std::string steps_key = fmt::format("{}.steps/{}", name_, parameter->name());
    if (!state.contains(steps_key)) continue;
    Slots& of = slots[parameter->uid()];
    of.steps = take_count(steps_key);
    for (const std::string& slot : slot_names_)
      of.tensors.push_back(take(fmt::format("{}.{}/{}", name_, slot, parameter->name()), parameter->shape())
                               .to(parameter->value().dtype()));
  }
  for (const auto& [key, tensor] : state)
    if (!used.contains(key))
      throw UsageError(fmt::format("{}: \"{}\" of the state belongs to nothing here", name_, key));
  learning_rate_ = learning_rate;
  steps_ = steps;
  slots_ = std::move(slots);
}

}  // namespace espalier::optim
