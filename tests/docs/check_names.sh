#!/bin/bash
# Checks that every name of ours in a document, such as b::map or nn::FC, is one that a header has.
# usage: check_names.sh SOURCE_FOLDER DOCUMENT...    (documents relative to SOURCE_FOLDER)
set -euo pipefail
source=$1
shift
words=$(cat "$source"/espalier/*/*.h | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u)
wrong=0
for document in "$@"; do
  while IFS= read -r name; do
    if ! grep -qxF "${name##*::}" <<<"$words"; then
      echo "$document: no header has $name" >&2
      wrong=1
    fi
  done < <(grep -oE '\b(b|esp|nn|optim|data|init)::[A-Za-z_]+' "$source/$document" | sort -u)
done
exit "$wrong"
