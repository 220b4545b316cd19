/// What an action is refused with.
#pragma once

#include <string>

#include "espalier/base/error.h"

namespace espalier::data {

/// The text of the espalier::Error that `action` throws.
template <class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace espalier::data
