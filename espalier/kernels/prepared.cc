#include "espalier/kernels/prepared.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/base/threads.h"
#include "espalier/kernels/grain.h"
#include "espalier/kernels/onednn.h"
#include "espalier/kernels/product.h"
#include "espalier/kernels/rows.h"
#include "espalier/kernels/small_product.h"
#include "espalier/kernels/transpose.h"

namespace espalier::kernels {
namespace {

/// A primitive of oneDNN is made for a number of rows. Longer products run in pieces of this many, so that all there
/// will ever be are made once.
constexpr std::int64_t kMostRows = 64;

template <class Handle, dnnl_status_t (*destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  ~Owned() { reset(); }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle get() const { return handle_; }
  Handle* out() {
    reset();
    return &handle_;
  }

 private:
  void reset() {
    if (handle_ != nullptr) destroy(handle_);
    handle_ = nullptr;
  }
  Handle handle_ = nullptr;
};
using Memory = Owned<dnnl_memory_t, &dnnl_memory_destroy>;
using Primitive = Owned<dnnl_primitive_t, &dnnl_primitive_destroy>;
using PrimitiveDesc = Owned<dnnl_primitive_desc_t, &dnnl_primitive_desc_destroy>;
using Attributes = Owned<dnnl_primitive_attr_t, &dnnl_primitive_attr_destroy>;
using Stream = Owned<dnnl_stream_t, &dnnl_stream_destroy>;

constexpr std::string_view kWhat = "a product with prepared weights";

/// Lives as long as the process: matrices in static objects may outlive all other statics.
dnnl_engine_t engine() {
  static const dnnl_engine_t one = [] {
    dnnl_engine_t made = nullptr;
    require_success(dnnl_engine_create(&made, dnnl_cpu, 0), kWhat);
    return made;
  }();
  return one;
}

dnnl_stream_t stream() {
  thread_local Stream of_thread;
  if (of_thread.get() == nullptr)
    require_success(dnnl_stream_create(of_thread.out(), engine(), dnnl_stream_default_flags), kWhat);
  return of_thread.get();
}

dnnl_memory_desc_t matrix_desc(std::int64_t rows, std::int64_t columns, dnnl_format_tag_t tag) {
  const dnnl_dims_t dims{rows, columns};
  dnnl_memory_desc_t desc;
  require_success(dnnl_memory_desc_init_by_tag(&desc, 2, dims, dnnl_f32, tag), kWhat);
  return desc;
}

/// What is added to the product.
struct Form {
  bool bias;
  bool accumulate;
  std::size_t index() const { return (bias ? 1U : 0U) + (accumulate ? 2U : 0U); }
};
constexpr std::size_t kForms = 4;

/// One primitive, for so many rows of one shape of weights.
struct Kernel {
  Primitive primitive;
  dnnl_memory_desc_t a, c, bias, scratch;
  std::size_t number = 0;  // among all of the process
};

/// The memory objects of a primitive, which every thread has for itself: they carry the addresses of a call.
struct Arguments {
  Memory a, c, bias, scratch;
  std::vector<float> scratch_data;
};

Arguments& arguments_of(const Kernel& kernel) {
  thread_local std::vector<std::unique_ptr<Arguments>> all;
  if (kernel.number >= all.size()) all.resize(kernel.number + 1);
  std::unique_ptr<Arguments>& mine = all[kernel.number];
  if (mine == nullptr) {
    mine = std::make_unique<Arguments>();
    require_success(dnnl_memory_create(mine->a.out(), &kernel.a, engine(), nullptr), kWhat);
    require_success(dnnl_memory_create(mine->c.out(), &kernel.c, engine(), nullptr), kWhat);
    if (kernel.bias.ndims > 0)
      require_success(dnnl_memory_create(mine->bias.out(), &kernel.bias, engine(), nullptr), kWhat);
    if (const std::size_t bytes = dnnl_memory_desc_get_size(&kernel.scratch); bytes > 0) {
      mine->scratch_data.resize(bytes / sizeof(float) + 1);
      require_success(dnnl_memory_create(mine->scratch.out(), &kernel.scratch, engine(), mine->scratch_data.data()),
                      kWhat);
    }
  }
  return *mine;
}

/// The primitives for weights of one shape, made when first used and kept.
class KernelTable {
 public:
  KernelTable(std::int64_t k, std::int64_t n) : k_(k), n_(n) {
    PrimitiveDesc desc;
    const dnnl_memory_desc_t any = matrix_desc(k, n, dnnl_format_tag_any);
    if (!describe(kMostRows, {false, false}, any, desc)) return;
    const char* name = nullptr;
    require_success(dnnl_primitive_desc_query(desc.get(), dnnl_query_impl_info_str, 0, static_cast<void*>(&name)),
                    kWhat);
    // Other implementations take weights as they are, and gain nothing.
    blocked_ = std::string_view(name).starts_with("brg");
    weights_ = *dnnl_primitive_desc_query_md(desc.get(), dnnl_query_weights_md, 0);
  }

  /// Whether this processor has products that want weights in a form of their own.
  bool is_blocked() const { return blocked_; }
  const dnnl_memory_desc_t& weights() const { return weights_; }

  const Kernel& kernel(std::int64_t rows, Form form) {
    std::atomic<const Kernel*>& place = kernels_[form.index()][static_cast<std::size_t>(rows - 1)];
    if (const Kernel* known = place.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(mutex_);
    if (const Kernel* known = place.load(std::memory_order_relaxed)) return *known;
    const Kernel* made = make(rows, form);
    place.store(made, std::memory_order_release);
    return *made;
  }

 private:
  bool describe(std::int64_t rows, Form form, const dnnl_memory_desc_t& weights, PrimitiveDesc& desc) const {
    const dnnl_memory_desc_t a = matrix_desc(rows, k_, dnnl_ab);
    const dnnl_memory_desc_t c = matrix_desc(rows, n_, dnnl_ab);
    const dnnl_memory_desc_t bias = matrix_desc(1, n_, dnnl_ab);
    dnnl_matmul_desc_t matmul;
    require_success(dnnl_matmul_desc_init(&matmul, &a, &weights, form.bias ? &bias : nullptr, &c), kWhat);
    Attributes attributes;
    require_success(dnnl_primitive_attr_create(attributes.out()), kWhat);
    require_success(dnnl_primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user), kWhat);
    if (form.accumulate) {
      dnnl_post_ops_t post = nullptr;
      require_success(dnnl_post_ops_create(&post), kWhat);
      dnnl_post_ops_append_sum(post, 1.0F);
      dnnl_primitive_attr_set_post_ops(attributes.get(), post);
      dnnl_post_ops_destroy(post);
    }
    const OneOpenMpThread one;
    return dnnl_primitive_desc_create(desc.out(), &matmul, attributes.get(), engine(), nullptr) == dnnl_success;
  }

  const Kernel* make(std::int64_t rows, Form form) const {
    static std::atomic<std::size_t> count{0};
    PrimitiveDesc desc;
    if (!describe(rows, form, weights_, desc)) throw InternalError("oneDNN refused " + std::string(kWhat));
    auto kernel = std::make_unique<Kernel>();
    const OneOpenMpThread one;
    require_success(dnnl_primitive_create(kernel->primitive.out(), desc.get()), kWhat);
    kernel->a = matrix_desc(rows, k_, dnnl_ab);
    kernel->c = matrix_desc(rows, n_, dnnl_ab);
    kernel->bias = form.bias ? matrix_desc(1, n_, dnnl_ab) : dnnl_memory_desc_t{};
    kernel->scratch = *dnnl_primitive_desc_query_md(desc.get(), dnnl_query_scratchpad_md, 0);
    kernel->number = count++;
    return kernel.release();  // kept for the life of the process, like the table
  }

  std::int64_t k_;
  std::int64_t n_;
  bool blocked_ = false;
  dnnl_memory_desc_t weights_{};
  std::mutex mutex_;
  std::array<std::array<std::atomic<const Kernel*>, kMostRows>, kForms> kernels_{};
};

/// One table a shape; never freed, like the primitives in it.
KernelTable& table_of(std::int64_t k, std::int64_t n) {
  static std::mutex mutex;
  static auto& tables = *new std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<KernelTable>>();
  const std::lock_guard lock(mutex);
  std::unique_ptr<KernelTable>& table = tables[{k, n}];
  if (table == nullptr) table = std::make_unique<KernelTable>(k, n);
  return *table;
}

}  // namespace

class Prepared::Matrix {
 public:
  Matrix(std::int64_t k, std::int64_t n) : k_(k), n_(n) {
    KernelTable* table = is_small_matrix(k, n) ? nullptr : &table_of(k, n);
    if (table == nullptr || !table->is_blocked()) {
      make_room(static_cast<std::size_t>(k * n) * sizeof(float));
      return;
    }
    table_ = table;
    make_room(dnnl_memory_desc_get_size(&table->weights()));
    require_success(dnnl_memory_create(weights_.out(), &table->weights(), engine(), data_), kWhat);
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() = default;

  std::int64_t k() const { return k_; }
  std::int64_t n() const { return n_; }
  const float* plain() const { return table_ == nullptr ? data_ : nullptr; }

  void assign(const float* b, std::int64_t next_row, std::int64_t next_column) {
    if (table_ == nullptr) {
      if (next_row == 1)
        transpose(n_, k_, b, next_column, data_, n_);
      else
        for (std::int64_t r = 0; r < k_; ++r) std::copy_n(b + r * next_row, n_, data_ + r * n_);
      return;
    }
    const dnnl_dims_t dims{k_, n_};
    const dnnl_dims_t strides{next_row, next_column};
    dnnl_memory_desc_t desc;
    require_success(dnnl_memory_desc_init_by_strides(&desc, 2, dims, dnnl_f32, strides), kWhat);
    if (reorder_.get() == nullptr || dnnl_memory_desc_equal(&desc, &from_) == 0) make_reorder(desc);
    require_success(dnnl_memory_set_data_handle_v2(source_.get(), const_cast<float*>(b), stream()), kWhat);
    const std::array<dnnl_exec_arg_t, 2> arguments{{{DNNL_ARG_FROM, source_.get()}, {DNNL_ARG_TO, weights_.get()}}};
    const OneOpenMpThread one;
    require_success(dnnl_primitive_execute(reorder_.get(), stream(), 2, arguments.data()), kWhat);
  }

  void product(std::int64_t m, const float* a, std::int64_t lda, const float* bias, float* c, std::int64_t ldc,
               bool accumulate) const {
    parallel_for(m, grain_for(k_ * n_), [&](std::int64_t begin, std::int64_t end) {
      rows(end - begin, a + begin * lda, lda, bias, c + begin * ldc, ldc, accumulate);
    });
  }

 private:
  static constexpr std::size_t kAlignment = 64;

  void make_room(std::size_t bytes) {
    memory_.resize((bytes + kAlignment) / sizeof(float));
    void* aligned = memory_.data();
    std::size_t space = memory_.size() * sizeof(float);
    data_ = static_cast<float*>(std::align(kAlignment, bytes, aligned, space));
  }

  void make_reorder(const dnnl_memory_desc_t& from) {
    from_ = from;
    require_success(dnnl_memory_create(source_.out(), &from_, engine(), nullptr), kWhat);
    PrimitiveDesc desc;
    const OneOpenMpThread one;
    require_success(
        dnnl_reorder_primitive_desc_create(desc.out(), &from_, engine(), &table_->weights(), engine(), nullptr), kWhat);
    require_success(dnnl_primitive_create(reorder_.out(), desc.get()), kWhat);
  }

  void rows(std::int64_t m, const float* a, std::int64_t lda, const float* bias, float* c, std::int64_t ldc,
            bool accumulate) const {
    if (table_ == nullptr) {
      affine(m, n_, k_, a, lda, data_, n_, bias, c, ldc, accumulate);
      return;
    }
    const OneOpenMpThread one;
    for (std::int64_t begin = 0; begin < m; begin += kMostRows) {
      const std::int64_t count = std::min(kMostRows, m - begin);
      piece(count, a + begin * lda, lda, bias, c + begin * ldc, ldc, accumulate);
    }
  }

  /// The primitives take rows without gaps: others pass through memory of the thread.
  void piece(std::int64_t m, const float* a, std::int64_t lda, const float* bias, float* c, std::int64_t ldc,
             bool accumulate) const {
    thread_local std::vector<float> dense_a;
    thread_local std::vector<float> dense_c;
    if (m > 1 && lda != k_) {
      dense_a.resize(static_cast<std::size_t>(m * k_));
      for (std::int64_t r = 0; r < m; ++r) std::copy_n(a + r * lda, k_, dense_a.data() + r * k_);
      a = dense_a.data();
    }
    if (m == 1 || ldc == n_) {
      execute(m, a, bias, c, accumulate);
      return;
    }
    dense_c.resize(static_cast<std::size_t>(m * n_));
    execute(m, a, bias, dense_c.data(), /*accumulate=*/false);
    const auto width = static_cast<std::size_t>(n_);
    for (std::int64_t r = 0; r < m; ++r) {
      const std::span<const float> from(dense_c.data() + r * n_, width);
      if (accumulate)
        add(from, {c + r * ldc, width});
      else
        copy(from, {c + r * ldc, width});
    }
  }

  void execute(std::int64_t m, const float* a, const float* bias, float* c, bool accumulate) const {
    const Kernel& kernel = table_->kernel(m, {bias != nullptr, accumulate});
    const Arguments& arguments = arguments_of(kernel);
    std::array<dnnl_exec_arg_t, 5> list{};
    int count = 0;
    const auto pass = [&](int which, const Memory& memory, const float* data) {
      dnnl_memory_set_data_handle_v2(memory.get(), const_cast<float*>(data), nullptr);
      list[static_cast<std::size_t>(count++)] = {which, memory.get()};
    };
    pass(DNNL_ARG_SRC, arguments.a, a);
    pass(DNNL_ARG_DST, arguments.c, c);
    if (bias != nullptr) pass(DNNL_ARG_BIAS, arguments.bias, bias);
    list[static_cast<std::size_t>(count++)] = {DNNL_ARG_WEIGHTS, weights_.get()};
    if (arguments.scratch.get() != nullptr)
      list[static_cast<std::size_t>(count++)] = {DNNL_ARG_SCRATCHPAD, arguments.scratch.get()};
    require_success(dnnl_primitive_execute(kernel.primitive.get(), stream(), count, list.data()), kWhat);
  }

  std::int64_t k_;
  std::int64_t n_;
  KernelTable* table_ = nullptr;  // null: the weights are kept row by row
  std::vector<float> memory_;
  float* data_ = nullptr;  // the weights, aligned, in memory_
  Memory weights_;
  Memory source_;
  dnnl_memory_desc_t from_{};
  Primitive reorder_;
};

Prepared::Prepared() = default;
Prepared::~Prepared() = default;
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;

void Prepared::assign(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb) {
  if (matrix_ == nullptr || matrix_->k() != k || matrix_->n() != n) matrix_ = std::make_unique<Matrix>(k, n);
  matrix_->assign(b, ldb, 1);
}

void Prepared::assign_transposed(std::int64_t k, std::int64_t n, const float* t, std::int64_t ldt) {
  if (matrix_ == nullptr || matrix_->k() != k || matrix_->n() != n) matrix_ = std::make_unique<Matrix>(k, n);
  matrix_->assign(t, 1, ldt);
}

std::int64_t Prepared::k() const { return matrix_ == nullptr ? 0 : matrix_->k(); }
std::int64_t Prepared::n() const { return matrix_ == nullptr ? 0 : matrix_->n(); }

const float* Prepared::plain() const { return matrix_ == nullptr ? nullptr : matrix_->plain(); }

void Prepared::product(std::int64_t m, const float* a, std::int64_t lda, const float* bias, float* c, std::int64_t ldc,
                       bool accumulate) const {
  if (m == 0 || matrix_ == nullptr) return;
  matrix_->product(m, a, lda, bias, c, ldc, accumulate);
}

}  // namespace espalier::kernels
