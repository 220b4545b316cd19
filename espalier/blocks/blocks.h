/// All blocks: a language for models over structured data. A block is a typed piece of a model, wired with >>; types
/// are checked when blocks are wired, not when they run.
///
///   namespace b = espalier::blocks;
///   b::Forward tree = b::forward("tree");
///   const b::Block leaf = b::get("word") >> b::lookup(vocabulary) >> b::embedding(words) >> leaf_cell;
///   const b::Block inner = b::record({{"left", tree()}, {"right", tree()}}) >> node_cell;
///   tree.resolve_to(b::one_of(b::key("kind"), {{"leaf", leaf}, {"node", inner}}));
///
/// Each block is described in the header that declares it, in one form: what it is, Type, Meaning, Example, Errors.
#pragma once

#include "espalier/blocks/block.h"
#include "espalier/blocks/choice.h"
#include "espalier/blocks/collect_blocks.h"
#include "espalier/blocks/composition.h"
#include "espalier/blocks/dynamic_function.h"
#include "espalier/blocks/input_blocks.h"
#include "espalier/blocks/output.h"
#include "espalier/blocks/program.h"
#include "espalier/blocks/sequence.h"
#include "espalier/blocks/sequence_models.h"
#include "espalier/blocks/stream.h"
#include "espalier/blocks/tensor_blocks.h"
#include "espalier/blocks/type.h"
