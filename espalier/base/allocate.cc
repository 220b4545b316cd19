#include "espalier/base/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::size_t kAlignment = 64;
/// From here on malloc() takes whole pages from the system.
constexpr std::size_t kManyZeros = std::size_t{1} << 20;

}  // namespace

void FreeBytes::operator()(std::byte* data) const {
  if (zeros != nullptr)
    std::free(zeros);  // NOLINT(cppcoreguidelines-no-malloc): of calloc()
  else
    ::operator delete[](data, std::align_val_t{kAlignment});
}

void refuse_bytes(std::size_t bytes, std::string_view what) {
  throw ResourceError(fmt::format("{}: {} bytes are needed, more than there is memory for", what, bytes));
}

Bytes allocate_bytes(std::size_t bytes, std::string_view what) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  if (size > std::numeric_limits<std::ptrdiff_t>::max()) refuse_bytes(bytes, what);
  void* const data = ::operator new[](size, std::align_val_t{kAlignment}, std::nothrow);
  if (data == nullptr) refuse_bytes(bytes, what);
  return Bytes(static_cast<std::byte*>(data));
}

Bytes allocate_zeros(std::size_t bytes, std::string_view what) {
  if (bytes < kManyZeros) {
    Bytes result = allocate_bytes(bytes, what);
    std::memset(result.get(), 0, bytes);
    return result;
  }
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - kAlignment) refuse_bytes(bytes, what);
  void* const zeros = std::calloc(bytes + kAlignment, 1);  // NOLINT(cppcoreguidelines-no-malloc): zeros for nothing
  if (zeros == nullptr) refuse_bytes(bytes, what);
  void* data = zeros;
  std::size_t room = bytes + kAlignment;
  return {static_cast<std::byte*>(std::align(kAlignment, bytes, data, room)), FreeBytes{zeros}};
}

}  // namespace espalier
