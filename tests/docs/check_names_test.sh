#!/bin/bash
# Proves that check_names.sh finds names that no header has. usage: check_names_test.sh CHECK_NAMES
set -euo pipefail
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/espalier/blocks"
echo 'Block map(int f);' >"$tree/espalier/blocks/one.h"
echo 'Use `b::map(f)`.' >"$tree/right.md"
echo 'Use `b::mpa(f)`.' >"$tree/wrong.md"
"$1" "$tree" right.md
if said=$("$1" "$tree" wrong.md 2>&1) || [ "$said" != 'wrong.md: no header has b::mpa' ]; then
  echo "expected to be refused: $said" >&2
  exit 1
fi
echo 'names are checked'
