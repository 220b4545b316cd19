#!/bin/bash
# Checks that the compiler refuses each case of refusals.cc with the text it says, and accepts all correct twins.
# usage: check_refusals.sh REFUSALS_CC COMPILER INCLUDE_FOLDER...
set -euo pipefail
source=$1
compiler=$2
shift 2
flags=(-std=c++20 -w)
for folder in "$@"; do flags+=("-I$folder"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

# The headers are read once.
"$compiler" "${flags[@]}" -x c++-header "$1/espalier/blocks.h" -o "$work/all.h.gch"
echo '#include <espalier/blocks.h>' > "$work/all.h"
flags+=(-include "$work/all.h" -fsyntax-only)

if ! "$compiler" "${flags[@]}" "$source" 2> "$work/errors"; then
  echo "the correct forms are refused:"
  cat "$work/errors"
  exit 1
fi

cases=$(sed -nE 's/^#if REFUSED == ([0-9]+)  \/\/ expect: (.+)$/\1 \2/p' "$source")
[ "$(wc -l <<<"$cases")" = "$(grep -c '^#if REFUSED' "$source")" ] || { echo "a case expects nothing"; exit 1; }
while read -r number text; do
  if "$compiler" "${flags[@]}" "-DREFUSED=$number" "$source" 2> "$work/errors" < /dev/null; then
    echo "case $number is not refused; expected: $text"
    wrong=1
  elif ! grep -E "error:" "$work/errors" | grep -qF -- "$text"; then
    echo "case $number is refused, but no error says: $text"
    head -5 "$work/errors"
    wrong=1
  fi
done <<<"$cases"
exit "$wrong"
