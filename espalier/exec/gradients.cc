#include "espalier/exec/gradients.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "espalier/kernels/rows.h"

namespace espalier {
namespace {

template <class F>
void visit_float(DType dtype, const F& f) {
  if (dtype == DType::kFloat32)
    f(float{});
  else if (dtype == DType::kFloat64)
    f(double{});
  else
    throw InternalError("gradients: int32 has no gradient");
}

Shape with_rows(const Shape& shape, std::size_t rows) { return shape.with(0, static_cast<std::int64_t>(rows)); }

/// y += x, of `width` numbers.
void add_row_to(DType dtype, std::byte* y, const std::byte* x, std::size_t width) {
  if (dtype == DType::kFloat32) {
    kernels::add({reinterpret_cast<const float*>(x), width}, {reinterpret_cast<float*>(y), width});
    return;
  }
  for (std::size_t i = 0; i < width; ++i) reinterpret_cast<double*>(y)[i] += reinterpret_cast<const double*>(x)[i];
}

void add_to(Tensor& to, const Tensor& from) {
  constexpr std::int64_t kGrain = 1 << 14;
  const std::size_t size = size_of(to.dtype());
  parallel_for(to.elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    const std::size_t offset = static_cast<std::size_t>(begin) * size;
    add_row_to(to.dtype(), to.data() + offset, from.data() + offset, static_cast<std::size_t>(end - begin));
  });
}

void scale_values(Tensor& values, double factor) {
  visit_float(values.dtype(), [&]<class T>(T) {
    for (T& value : values.as<T>()) value *= static_cast<T>(factor);
  });
}

}  // namespace

std::int64_t Gradient::row_width() const {
  const Shape& shape = parameter->shape();
  return shape.rank() == 0 || shape[0] == 0 ? 1 : shape.elements() / shape[0];
}

Tensor Gradient::to_tensor() const {
  if (!sparse) return dense;
  Tensor result(parameter->shape(), parameter->value().dtype());
  const std::size_t bytes = static_cast<std::size_t>(row_width()) * size_of(result.dtype());
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(result.data() + static_cast<std::size_t>(rows[i]) * bytes, row_values.data() + i * bytes, bytes);
  return result;
}

struct Gradients::Entry : Gradient {
  bool is_zero = true;
  std::vector<std::int32_t> new_rows;  // as they came
  std::vector<std::byte> new_values;
  /// What it was before the pass under way; kUnchanged if that has not touched it.
  enum class Before : std::uint8_t { kUnchanged, kZero, kDense, kRows };
  Before before = Before::kUnchanged;
  Tensor dense_before = Tensor(Shape{0});
  std::vector<std::int32_t> rows_before;
  Tensor row_values_before = Tensor(Shape{0});

  Before kind() const { return is_zero ? Before::kZero : sparse ? Before::kRows : Before::kDense; }
  void copy_content() {
    if (kind() == Before::kRows) {
      rows_before = rows;
      row_values_before = row_values;
    } else if (kind() == Before::kDense) {
      if (dense_before.shape() == dense.shape() && dense_before.dtype() == dense.dtype())
        std::memcpy(dense_before.data(), dense.data(), dense.bytes());
      else
        dense_before = dense;
    }
  }
  void restore() {
    if (before == Before::kRows) {
      std::swap(rows, rows_before);
      std::swap(row_values, row_values_before);
    } else {
      rows.clear();
      if (before == Before::kDense) std::swap(dense, dense_before);
    }
    sparse = before == Before::kRows;
    is_zero = before == Before::kZero;
    new_rows.clear();
    new_values.clear();
  }

  /// The gradient is the sum of these rows, some of which may be given several times; values_of(i) are those of the
  /// i-th.
  template <class ValuesOf>
  void set_rows(std::span<const std::int32_t> given, const ValuesOf& values_of) {
    const DType dtype = parameter->value().dtype();
    const auto width = static_cast<std::size_t>(row_width());
    const std::size_t row_bytes = width * size_of(dtype);
    // The row, then its number among those given: as one number, which sorts faster than two.
    std::vector<std::uint64_t> order(given.size());
    for (std::size_t i = 0; i < given.size(); ++i) order[i] = static_cast<std::uint64_t>(given[i]) << 32 | i;
    std::sort(order.begin(), order.end());
    const auto row_of = [](std::uint64_t key) { return static_cast<std::int32_t>(key >> 32); };
    std::vector<std::int32_t> distinct;
    distinct.reserve(order.size());
    for (const std::uint64_t key : order)
      if (distinct.empty() || distinct.back() != row_of(key)) distinct.push_back(row_of(key));
    Tensor sums = Tensor::unset(with_rows(parameter->shape(), distinct.size()), dtype);
    std::byte* to = sums.data();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::byte* const values = values_of(static_cast<std::size_t>(order[i] & 0xFFFFFFFF));
      if (i > 0 && row_of(order[i]) == row_of(order[i - 1])) {
        add_row_to(dtype, to - row_bytes, values, width);
      } else {
        std::memcpy(to, values, row_bytes);
        to += row_bytes;
      }
    }
    rows = std::move(distinct);
    row_values = std::move(sums);
    sparse = true;
    is_zero = false;
  }

  /// Adds rows; values_of(i) are those of the i-th.
  template <class ValuesOf>
  void merge_rows(std::span<const std::int32_t> given, const ValuesOf& values_of) {
    const auto width = static_cast<std::size_t>(row_width());
    const DType dtype = parameter->value().dtype();
    const std::size_t row_bytes = width * size_of(dtype);
    if (!is_zero && !sparse) {  // the parameter is also used as a whole
      for (std::size_t i = 0; i < given.size(); ++i)
        add_row_to(dtype, dense.data() + static_cast<std::size_t>(given[i]) * row_bytes, values_of(i), width);
      return;
    }
    // What is there already comes first, then the new rows in the order they came: the same bits every time.
    std::vector<std::int32_t> all = rows;
    all.insert(all.end(), given.begin(), given.end());
    const std::size_t old = rows.size();
    set_rows(all, [&](std::size_t i) -> const std::byte* {
      return i < old ? row_values.data() + i * row_bytes : values_of(i - old);
    });
  }
};

Gradients::Gradients() = default;
Gradients::~Gradients() = default;
Gradients::Gradients(Gradients&&) noexcept = default;
Gradients& Gradients::operator=(Gradients&&) noexcept = default;

void Gradients::clear() {
  for (auto& entry : entries_) {
    entry->is_zero = true;
    entry->sparse = false;
    entry->rows.clear();
    entry->new_rows.clear();
    entry->new_values.clear();
  }
}

bool Gradients::empty() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const auto& entry) { return entry->is_zero; });
}

const Gradient* Gradients::find(const Parameter& parameter) const {
  const auto found = index_.find(parameter.uid());
  if (found == index_.end() || entries_[found->second]->is_zero) return nullptr;
  return entries_[found->second].get();
}

std::vector<const Gradient*> Gradients::all() const {
  std::vector<const Gradient*> result;
  for (const auto& entry : entries_)
    if (!entry->is_zero) result.push_back(entry.get());
  std::sort(result.begin(), result.end(),
            [](const Gradient* a, const Gradient* b) { return a->parameter->uid() < b->parameter->uid(); });
  return result;
}

Gradients::Entry& Gradients::entry(const Parameter& parameter) {
  if (const auto known = index_.find(parameter.uid()); known != index_.end()) return *entries_[known->second];
  auto made = std::make_unique<Entry>();
  made->parameter = &parameter;
  entries_.reserve(entries_.size() + 1);  // nothing is half done if one of these finds no memory
  index_.emplace(parameter.uid(), entries_.size());
  entries_.push_back(std::move(made));
  return *entries_.back();
}

Gradients::Entry& Gradients::entry_to_change(const Parameter& parameter) {
  Entry& of = entry(parameter);
  if (in_pass_) remember(of);
  return of;
}

void Gradients::remember(Entry& of) {
  if (of.before != Entry::Before::kUnchanged) return;
  of.copy_content();
  changed_.push_back(&of);
  of.before = of.kind();
}

void Gradients::begin_pass() {
  end_pass();
  join_rows();
  in_pass_ = true;
}

void Gradients::end_pass() {
  for (Entry* entry : changed_) entry->before = Entry::Before::kUnchanged;
  changed_.clear();
  in_pass_ = false;
}

void Gradients::undo_pass() {
  for (Entry* entry : changed_) entry->restore();
  end_pass();
}

Gradients::Dense Gradients::dense(const Parameter& parameter) {
  Entry& of = entry_to_change(parameter);
  if (of.dense.shape() != parameter.shape() || of.dense.dtype() != parameter.value().dtype())
    of.dense = Tensor(parameter.shape(), parameter.value().dtype());
  bool store = of.is_zero;
  if (of.sparse) {
    of.dense = of.to_tensor();
    of.sparse = false;
    of.rows.clear();
    store = false;
  }
  of.is_zero = false;
  return {of.dense.data(), store};
}

void Gradients::add_row(const Parameter& parameter, std::int32_t row, const void* values) {
  Entry& of = entry_to_change(parameter);
  of.new_rows.push_back(row);
  const auto* bytes = static_cast<const std::byte*>(values);
  const std::size_t size = static_cast<std::size_t>(of.row_width()) * size_of(parameter.value().dtype());
  of.new_values.insert(of.new_values.end(), bytes, bytes + size);
}

void Gradients::add_rows(const Parameter& parameter, std::span<const std::int32_t> rows,
                         std::span<const std::byte* const> values) {
  Entry& of = entry_to_change(parameter);
  if (of.is_zero && of.new_rows.empty()) {
    of.set_rows(rows, [&](std::size_t i) { return values[i]; });
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) add_row(parameter, rows[i], values[i]);
}

void Gradients::join_rows() {
  for (auto& entry : entries_) {
    Entry& of = *entry;
    if (of.new_rows.empty()) continue;
    const std::size_t row_bytes = static_cast<std::size_t>(of.row_width()) * size_of(of.parameter->value().dtype());
    of.merge_rows(of.new_rows, [&](std::size_t i) { return of.new_values.data() + i * row_bytes; });
    of.new_rows.clear();
    of.new_values.clear();
  }
}

void Gradients::add(const Gradients& other) {
  join_rows();
  for (const Gradient* from : other.all()) {
    if (from->sparse) {
      const std::size_t size = static_cast<std::size_t>(from->row_width()) * size_of(from->parameter->value().dtype());
      entry(*from->parameter).merge_rows(from->rows, [&](std::size_t i) { return from->row_values.data() + i * size; });
    } else {
      const Dense to = dense(*from->parameter);
      Entry& of = entry(*from->parameter);
      if (to.store)
        of.dense = from->dense;
      else
        add_to(of.dense, from->dense);
    }
  }
}

void Gradients::scale(double factor) {
  for (auto& entry : entries_)
    if (!entry->is_zero) scale_values(entry->sparse ? entry->row_values : entry->dense, factor);
}

void Gradients::scale_by_parameter() {
  for (auto& entry : entries_)
    if (!entry->is_zero && entry->parameter->gradient_scale != 1)
      scale_values(entry->sparse ? entry->row_values : entry->dense, entry->parameter->gradient_scale);
}

double Gradients::norm() const {
  double sum = 0;
  for (const Gradient* gradient : all())
    visit_float(gradient->values().dtype(), [&]<class T>(T) {
      for (T value : gradient->values().as<T>()) sum += static_cast<double>(value) * static_cast<double>(value);
    });
  return std::sqrt(sum);
}

}  // namespace espalier
