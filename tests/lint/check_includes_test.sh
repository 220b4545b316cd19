#!/bin/bash
# Proves that tools/check_includes passes a tree that follows the layers and stops at each kind of breach.
# usage: check_includes_test.sh CHECK_INCLUDES
set -euo pipefail
check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# put FILE LINE...: writes one file of the scratch tree.
put() {
  mkdir -p "$(dirname "$tree/$1")"
  printf '%s\n' "${@:2}" >"$tree/$1"
}

expect_pass() {
  "$check" "$tree" || { echo "expected to pass: $1" >&2; exit 1; }
}

# expect_refusal LINE: the check stops, prints exactly this line, and passes again without FILE.
expect_refusal() {
  local output
  if output=$("$check" "$tree"); then
    echo "expected to be refused: $1" >&2
    exit 1
  fi
  [ "$output" = "$1" ] || { printf 'expected: %s\n   found: %s\n' "$1" "$output" >&2; exit 1; }
  rm "$tree/${1%%:*}"
  expect_pass "the tree without ${1%%:*}"
}

put espalier/base/shape.h '#pragma once' '#include <vector>'
put espalier/graph/graph.h '#include "espalier/base/shape.h"' '#include <espalier/tensor/tensor.h>'
put espalier/kernels/product.cc '#include <dnnl.h>' '#include <hwy/highway.h>' '#include <fmt/format.h>'
put espalier/kernels/math-inl.h '#include <hwy/highway.h>'
put espalier/espalier.h '#include "espalier/train/trainer.h"'
put espalier/cli/main.cc '#include "espalier/espalier.h"'
put espalier/exec/node_table.h '#pragma once'
put espalier/exec/bind/row_source.h '#include "espalier/exec/node_table.h"'
put espalier/exec/pass/forward.h '#include "espalier/exec/bind/row_source.h"' '#include "espalier/plan/plan.h"'
expect_pass 'includes that go down'

put espalier/base/up.h '#pragma once' '' '#include "espalier/graph/graph.h"'
expect_refusal 'espalier/base/up.h:3: layer base may not include layer graph'

put espalier/batch/strategy.cc '#  include <espalier/tensor/tensor.h>  // a float'
expect_refusal 'espalier/batch/strategy.cc:1: layer batch may not include layer tensor'

put espalier/plan/plan.h '#include "espalier/cells/cell.h"'
expect_refusal 'espalier/plan/plan.h:1: layer plan may not include layer cells'

put espalier/cells/cell.h '#include "espalier/plan/plan.h"'
expect_refusal 'espalier/cells/cell.h:1: layer cells may not include layer plan'

put espalier/data/reader.cc '#include "espalier/espalier.h"'
expect_refusal 'espalier/data/reader.cc:1: layer data may not include espalier/espalier.h'

put espalier/graph/product.cc '#include <dnnl.hpp>'
expect_refusal 'espalier/graph/product.cc:1: <dnnl.hpp> may be included only in espalier/kernels/*'

put espalier/nn/weights.h '#include <nlohmann/json.hpp>'
expect_refusal 'espalier/nn/weights.h:1: <nlohmann/json.hpp> may be included only in espalier/nn/*.cc espalier/data/*.cc espalier/train/*.cc espalier/cli/*'

put espalier/graph/near.cc '#include "graph.h"'
expect_refusal 'espalier/graph/near.cc:1: "graph.h" is not written from the root, as in "espalier/<layer>/<file>.h"'

put espalier/attic/old.h '#pragma once'
expect_refusal 'espalier/attic/old.h:1: layer attic is not in tools/layers.txt'

put espalier/exec/bind/up.h '#include "espalier/exec/pass/forward.h"'
expect_refusal 'espalier/exec/bind/up.h:1: room exec/bind may not include room exec/pass'

put espalier/exec/shared.h '#include "espalier/exec/bind/row_source.h"'
expect_refusal 'espalier/exec/shared.h:1: what all rooms of exec share may not include room exec/bind'

put espalier/nn/layer.h '#include "espalier/exec/bind/row_source.h"'
expect_refusal 'espalier/nn/layer.h:1: layer nn may not include room exec/bind'

put espalier/exec/attic/old.h '#pragma once'
expect_refusal 'espalier/exec/attic/old.h:1: room exec/attic is not in tools/layers.txt'

echo 'check_includes catches what it should'
