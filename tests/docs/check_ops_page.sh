#!/bin/bash
# Checks that the page of ops is what `espalier ops` prints; says how to make it anew.
# usage: check_ops_page.sh PAGE ESPALIER_COMMAND
set -euo pipefail
if ! "$2" ops | diff "$1" -; then
  echo 'docs/ops.md is out of date: build/release/espalier ops >docs/ops.md' >&2
  exit 1
fi
