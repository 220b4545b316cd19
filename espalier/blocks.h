/// Espalier with blocks (blocks/blocks.h) and with the readers of JSON, protocol buffers and s-expressions that feed
/// them.
#pragma once

#include "espalier/blocks/blocks.h"
#include "espalier/data/json.h"
#include "espalier/data/proto.h"
#include "espalier/data/sexpr.h"
#include "espalier/data/value.h"
#include "espalier/espalier.h"
