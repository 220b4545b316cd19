/// The library's own ops, as the registry takes them: the only place that instantiates all of their code.
#include <array>

#include "espalier/graph/library_ops.h"
#include "espalier/ops/all.h"
#include "espalier/ops/op.h"

namespace espalier {
namespace {

template <class... Ops>
auto infos_of(ops::TypeList<Ops...>) {
  return std::array{ops::make_op_info<Ops>()...};
}

}  // namespace

std::span<const OpInfo> library_ops() {
  static const auto infos = infos_of(ops::AllOps{});
  return infos;
}

}  // namespace espalier
