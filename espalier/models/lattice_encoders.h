/// The two forms of lattice LSTMs.
#pragma once

#include <memory>

#include "espalier/models/lattice_net.h"

namespace espalier::models {

/// `prefix` names the parameters; empty for none.
std::unique_ptr<const LatticeEncoder> make_lattice_encoder(Model& model, const std::string& prefix,
                                                           const LatticeSettings& settings);

}  // namespace espalier::models
