/// Gradients: the gradients of any number of parameters: whole tensors, and for tables single rows.
///
/// A Model has one, which backward() uses by default. Two threads that differentiate over one Model each use one of
/// their own, to be added up afterwards.
///
/// Thread safety: one thread at a time.
///
/// Invariants: rows are distinct and in ascending order; a parameter has dense values or rows, not both.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "espalier/base/export.h"
#include "espalier/graph/parameter.h"
#include "espalier/tensor/tensor.h"

namespace espalier {

/// The gradient of one parameter.
struct ESPALIER_EXPORT Gradient {
  const Parameter* parameter = nullptr;
  /// If not `sparse`: the whole gradient, in the shape of the parameter.
  Tensor dense = Tensor(Shape{0});
  /// If `sparse`: these rows of it, ascending, and their values, [rows, ...]. All other rows are zero.
  std::vector<std::int32_t> rows;
  Tensor row_values = Tensor(Shape{0});
  bool sparse = false;

  /// Elements of one row of the parameter.
  std::int64_t row_width() const;
  /// The numbers that are not known to be zero.
  const Tensor& values() const { return sparse ? row_values : dense; }
  /// The whole gradient as a tensor, zeros included.
  Tensor to_tensor() const;
};

class ESPALIER_EXPORT Gradients {
 public:
  Gradients();
  ~Gradients();
  Gradients(Gradients&&) noexcept;
  Gradients& operator=(Gradients&&) noexcept;
  Gradients(const Gradients&) = delete;
  Gradients& operator=(const Gradients&) = delete;

  /// All gradients are zero. Memory is kept for the next ones.
  void clear();
  bool empty() const;

  /// The gradient of a parameter; null if it is zero.
  const Gradient* find(const Parameter& parameter) const;
  /// The gradients that are not zero, in the order of the parameters' uids.
  std::vector<const Gradient*> all() const;

  /// Adds those of another, for instance of another thread.
  void add(const Gradients& other);
  void scale(double factor);
  /// Multiplies each gradient by the gradient_scale of its parameter.
  void scale_by_parameter();
  /// The square root of the sum of all squares.
  double norm() const;

  // --- for executors -------------------------------------------------------------------------------------------------

  /// Memory for the whole gradient, to be stored into if `store`, else added to; it counts as not zero from here on.
  struct Dense {
    std::byte* data = nullptr;
    bool store = false;
  };
  Dense dense(const Parameter& parameter);
  /// Adds to one row; the values are copied. Takes effect with join_rows().
  void add_row(const Parameter& parameter, std::int32_t row, const void* values);
  /// The same for many rows. Where there are none yet, they take effect at once, and are not copied first.
  void add_rows(const Parameter& parameter, std::span<const std::int32_t> rows,
                std::span<const std::byte* const> values);
  /// Sorts, adds up and merges the rows given since the last call.
  void join_rows();
  /// A backward pass begins. Until end_pass(), undo_pass() takes back everything that the calls above changed.
  /// Gradients that are zero before the pass cost nothing; others are copied when they are first changed.
  void begin_pass();
  void end_pass();
  void undo_pass();

 private:
  struct Entry;
  Entry& entry(const Parameter& parameter);
  /// The entry of a parameter, which is about to be changed.
  Entry& entry_to_change(const Parameter& parameter);
  void remember(Entry& entry);

  std::vector<std::unique_ptr<Entry>> entries_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  bool in_pass_ = false;
  std::vector<Entry*> changed_;  // in the pass under way
};

}  // namespace espalier
