/// The inputs of the benchmark's workloads: those of the library's models.
#pragma once

#include "espalier/models/instances.h"

namespace espalier::bench {

using models::BinaryTree;
using models::DependencyTree;
using models::Lattice;
using models::Molecule;
using models::QueryPlan;
using models::TaggedSentence;

}  // namespace espalier::bench
