/// What an action is refused with.
#pragma once

#include <string>

#include "espalier/base/error.h"

namespace espalier::testing {

/// The text of the error of kind E that `action` throws. Any other goes through.
template <class E = Error, class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace espalier::testing
