/// A list of types, to be passed around as one.
#pragma once

namespace espalier::ops {

template <class... Types>
struct TypeList {};

}  // namespace espalier::ops
