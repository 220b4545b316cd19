/// Blocks as Python objects, and what may stand for one.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "blocks_data.h"

namespace espalier::python {

struct BlockObject {
  /// Takes what was noted as its uses.
  BlockObject(blocks::Block made) : block(std::move(made)), uses(Uses::take()) {}  // NOLINT: as a block is returned
  BlockObject(blocks::Block made, Uses known) : block(std::move(made)), uses(std::move(known)) {}

  blocks::Block block;
  Uses uses;
};

struct CompositionObject {
  blocks::Composition composition;
  Uses uses;
};

/// A block, layer, parameter, function, number or array, or a list of them, as a block that was given at this line.
blocks::BlockArg block_arg(nanobind::handle argument, SourceLine where);
/// A number, which has no axes, or an array.
Tensor constant_of(nanobind::handle argument);
std::vector<blocks::BlockArg> block_args(nanobind::handle arguments, SourceLine where);

void bind_block_kinds(nanobind::module_& module);
void bind_compositions(nanobind::module_& module);
void bind_programs(nanobind::module_& module);

}  // namespace espalier::python
