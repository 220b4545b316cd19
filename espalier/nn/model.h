/// Model: the named parameters of a network.
///
/// Layers take a Scope, a place in the tree of names, and make their parameters there:
///
///   Model model;
///   nn::Linear classify(model / "classify", 150, 5);       // parameters "classify.W" and "classify.b"
///
/// A layer is a handle to its parameters: copying it shares them, and it must not outlive the model.
///
/// Thread safety: reading (recording graphs, computing, differentiating into Gradients of one's own) from any number of
/// threads; adding, loading, training exclude all readers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "espalier/base/dtype.h"
#include "espalier/base/export.h"
#include "espalier/base/file_path.h"
#include "espalier/base/shape.h"
#include "espalier/exec/gradients.h"
#include "espalier/graph/parameter.h"
#include "espalier/nn/init.h"
#include "espalier/nn/safetensors.h"

namespace espalier {

class Model;

/// A prefix of names in a model: `model / "encoder" / "cell"` makes parameters "encoder.cell.W".
class ESPALIER_EXPORT Scope {
 public:
  Scope(Model& model, std::string prefix) : model_(&model), prefix_(std::move(prefix)) {}
  Scope operator/(std::string_view name) const;
  /// Adds parameter `prefix.name`. Refuses a name that is taken.
  Parameter& add(std::string_view name, const Shape& shape, const init::Initializer& initializer) const;
  Model& model() const { return *model_; }
  const std::string& prefix() const { return prefix_; }

 private:
  Model* model_;
  std::string prefix_;
};

class ESPALIER_EXPORT Model {
 public:
  /// The seed decides the initial values: each parameter draws from a stream chosen by its name, so adding one
  /// parameter does not change the others.
  explicit Model(std::uint64_t seed = 1);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Scope operator/(std::string_view name) { return {*this, std::string(name)}; }
  /// Adds a parameter of the model's element type. Refuses a name that is taken, "", "__metadata__", and what the
  /// initializer refuses; the model is unchanged then.
  Parameter& add(std::string name, const Shape& shape, const init::Initializer& initializer);

  /// Refuses, with the closest names, one that is not there.
  Parameter& parameter(std::string_view name) const;
  /// Null if it is not there.
  Parameter* find(std::string_view name) const;
  /// All, in the order they were added.
  std::span<Parameter* const> parameters() const { return order_; }
  /// How many numbers.
  std::int64_t count() const;

  /// Every parameter whose name is `prefix` or begins with `prefix.`; "" is all. Refuses a prefix that names none.
  void freeze(std::string_view prefix, bool frozen = true);
  void set_learning_rate_scale(std::string_view prefix, double scale);
  /// Optimizers multiply these gradients by `scale` before clipping and before their rule. A rule that divides by the
  /// size of past gradients, as Adam does, mostly undoes it: use the learning rate there. Refuses a negative scale.
  void set_gradient_scale(std::string_view prefix, double scale);
  /// Changes the element type of all parameters, and of those added later. Forgets the gradients. Refuses int32.
  void to(DType dtype);
  /// float32 at first.
  DType dtype() const { return dtype_; }

  Gradients& gradients() { return gradients_; }

  /// Expires when the model is destroyed: for objects that refer to it and may outlive it.
  std::weak_ptr<const void> lifetime() const { return lifetime_; }

  /// Writes all parameters as a safetensors file, whole or not at all.
  void save(const FilePath& path, const Metadata& metadata = {}) const;
  /// Reads them back. Refuses a file that lacks a parameter or has another shape for it (naming both), and changes
  /// nothing then; other element types are converted; further tensors in the file are refused unless `allow_more`.
  void load(const FilePath& path, bool allow_more = false);

 private:
  std::vector<Parameter*> under(std::string_view prefix) const;

  std::uint64_t seed_;
  DType dtype_ = DType::kFloat32;
  std::vector<OwnedParameter> owned_;
  std::vector<Parameter*> order_;
  std::unordered_map<std::string, Parameter*> by_name_;
  Gradients gradients_;
  std::shared_ptr<const void> lifetime_ = std::make_shared<char>();
};

}  // namespace espalier
