/// One id type per kind of thing, so that a node is never taken for a signature.
#pragma once

#include <cstdint>

#include "espalier/base/export.h"

namespace espalier {

enum class NodeId : std::int32_t {};
enum class OpId : std::int32_t {};
enum class SignatureId : std::int32_t {};
/// An element type and shape, interned.
enum class TypeId : std::int32_t {};
enum class InstanceId : std::int32_t {};

/// The instance of what belongs to none: parameters and what is computed from them alone.
inline constexpr InstanceId kNoInstance{-1};
/// The instance of a node that joins several, as the sum of their losses does.
inline constexpr InstanceId kJoint{-2};

template <class Id>
constexpr std::int32_t index_of(Id id) {
  return static_cast<std::int32_t>(id);
}

}  // namespace espalier
