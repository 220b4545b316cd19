#include "espalier/base/denormals.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace espalier {
namespace {

#if defined(__x86_64__)

constexpr std::uint64_t kFlushBits = 0x8040;  // MXCSR: flush to zero, denormals are zero
std::uint64_t control() { return _mm_getcsr(); }
void set_control(std::uint64_t bits) { _mm_setcsr(static_cast<unsigned>(bits)); }

#elif defined(__aarch64__)

constexpr std::uint64_t kFlushBits = std::uint64_t{1} << 24;  // FPCR: FZ
std::uint64_t control() {
  std::uint64_t bits = 0;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
void set_control(std::uint64_t bits) { asm volatile("msr fpcr, %0" : : "r"(bits)); }

#else

constexpr std::uint64_t kFlushBits = 1;
std::uint64_t control() { return 0; }
void set_control(std::uint64_t) {}

#endif

}  // namespace

FlushDenormals::FlushDenormals(bool flush) : saved_(control() & kFlushBits) {
  const std::uint64_t wanted = flush ? kFlushBits : 0;
  if (saved_ != wanted) set_control((control() & ~kFlushBits) | wanted);
}

FlushDenormals::~FlushDenormals() {
  // Only our bits: the sticky exception flags raised meanwhile are the caller's.
  const std::uint64_t now = control();
  if ((now & kFlushBits) != saved_) set_control((now & ~kFlushBits) | saved_);
}

bool FlushDenormals::active() { return (control() & kFlushBits) == kFlushBits; }

}  // namespace espalier
