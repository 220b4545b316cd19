/// Optimizers from text, for configuration files and command lines.
///
///   const auto optimizer = optim::parse(model, "adam(lr=3e-4, weight_decay=0.01)");
///   optimizer->step();
///
/// A name, then options in parentheses, in any order; the others have their defaults. The options are those of the
/// rule's struct (AdamOptions, ...); `lr` is short for `learning_rate`. Names: adadelta, adagrad, adam, adamw, ftrl,
/// rmsprop, sgd. Optimizer::to_string() is the reverse.
#pragma once

#include <memory>
#include <string_view>

#include "espalier/base/export.h"
#include "espalier/optim/optimizer.h"

namespace espalier::optim {

/// Refuses (UsageError) unknown names, with the nearest known one, text that it cannot read, and option values that the
/// optimizer refuses.
ESPALIER_EXPORT std::unique_ptr<Optimizer> parse(Model& model, std::string_view text);

}  // namespace espalier::optim
