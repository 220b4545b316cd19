#!/bin/bash
# Checks that `espalier blocks` prints the reference that the headers give, `espalier blocks NAME` the page of one, and
# that it knows no others. usage: check_block_pages.sh BLOCK_REFERENCE ESPALIER_COMMAND HEADER...
set -euo pipefail
reference=$1
espalier=$2
shift 2
diff <("$reference" page "$@") <("$espalier" blocks)
diff <("$reference" page "$@" | awk '/^## / { inside = $2 == "map" } inside') <("$espalier" blocks map)
if said=$("$espalier" blocks mpa 2>&1) || [[ $said != *'there is no block "mpa"; did you mean "map"?'* ]]; then
  echo "espalier blocks mpa: expected a refusal, not: $said" >&2
  exit 1
fi
