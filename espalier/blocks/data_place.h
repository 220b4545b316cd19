/// Where in the data of an instance an object is, as a JSON pointer: "/items/3/name".
///
/// Nothing keeps track of places while a model runs. After an error, the data are searched for the object's address.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "espalier/blocks/input_type.h"

namespace espalier::blocks {

/// A member of a struct that a model reads with get(&T::member): the table of the struct does not list it.
struct MemberPart {
  const InputType* whole = nullptr;
  const InputType* part = nullptr;
  const void* (*read)(const void* object, const void* whole) = nullptr;
  const void* object = nullptr;  // of the function
  std::string name;
};

/// The place of the first of `wanted` that is somewhere in the data; empty if none is, or if it is the data as a whole.
/// The first `read` of them were read by the instruction that failed; procedures around it were called with the others.
/// Runs in time proportional to the size of the data, visits shared parts once, and does not recurse.
std::string place_in_data(const InputType& type, const void* data, const std::vector<const void*>& wanted,
                          std::size_t read, std::span<const MemberPart> members);

}  // namespace espalier::blocks
