#!/bin/bash
# Proves that a wrong line in the list of ops stops the configuration with a sentence that names it, and that a right
# list gives the expected headers.
# usage: op_list_test.sh OP_LIST_CMAKE CMAKE
set -euo pipefail
module=$1
cmake=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir -p "$tree/espalier/ops"
touch "$tree/espalier/ops/tanh.h" "$tree/espalier/ops/layer_norm.h"
cat >"$tree/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(Scratch LANGUAGES NONE)
include("$module")
END

# configure TEXT: configures the scratch tree with this list of ops; prints what CMake says, on one line.
configure() {
  printf '%b' "$1" >"$tree/espalier/ops/list.txt"
  "$cmake" -G Ninja -S "$tree" -B "$tree/build" 2>&1 | tr -s ' \n' ' '
}

expect_refusal() {
  local said
  if said=$(configure "$1"); then
    echo "expected to be refused: $1" >&2
    exit 1
  fi
  [[ $said == *"$2"* ]] || { printf 'expected: %s\n   found: %s\n' "$2" "$said" >&2; exit 1; }
}

expect_refusal 'map tanh\nmap sinh\n' "espalier/ops/list.txt:2: the op 'sinh' has no file espalier/ops/sinh.h."
expect_refusal '# ops\n\nmaps tanh\n' "espalier/ops/list.txt:3: expected '<kind> <name>'"
expect_refusal 'map Tanh\n' "found 'map Tanh'."
expect_refusal 'map tanh;move layer_norm\n' "espalier/ops/list.txt:1: expected '<kind> <name>'"
expect_refusal 'map tanh\nmove tanh\n' "espalier/ops/list.txt:2: the op 'tanh' is already in the list."

configure '# ops\nmap tanh  # a comment\n\nmove layer_norm' >/dev/null
diff - "$tree/build/generated/espalier/ops/all.h" <<'END'
/// Every op of the library, as written in espalier/ops/list.txt. Made by the build; change the list instead.
#pragma once

#include "espalier/ops/tanh.h"
#include "espalier/ops/layer_norm.h"
#include "espalier/ops/type_list.h"

namespace espalier::ops {

using AllOps = TypeList<Tanh,
                        LayerNorm>;

}  // namespace espalier::ops
END
diff - "$tree/build/generated/espalier/ops/all_maps_simd.h" <<'END'
/// Every map of the library, as written in espalier/ops/list.txt. No guard: included once for each SIMD target.
#include "espalier/ops/tanh.h"

#ifndef ESPALIER_MAP_OPS
#define ESPALIER_MAP_OPS Tanh
#endif
END
echo 'the list of ops is checked'
