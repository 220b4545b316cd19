#!/bin/bash
# Checks that `espalier ops` prints a row for every op of the list. The page is printed, not kept, so that a new op is one
# file and one line. usage: check_ops_page.sh LIST ESPALIER_COMMAND
set -euo pipefail
page=$("$2" ops)
missing=0
while read -r kind name; do
  [ "$kind" != leaf ] || name=${name%_leaf}
  if ! grep -q "^| \`$name\` | $kind |" <<<"$page"; then
    echo "espalier ops prints no row for: $kind $name" >&2
    missing=1
  fi
done < <(grep -v '^#' "$1")
exit "$missing"
