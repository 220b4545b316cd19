#!/bin/bash
# Compiled below C++20, any header that a user includes first gives one sentence and stops the compiler.
# usage: check_standard.sh INCLUDE_FOLDER COMPILER
set -euo pipefail
include=$1
compiler=$2
export LC_ALL=C
sentence='Espalier needs C++20: compile with -std=c++20 or a later standard'

for header in espalier.h blocks.h base/threads.h blocks/blocks.h cells/cell.h data/json.h graph/graph.h nn/tree_lstm.h ops/all.h \
  optim/adam.h tensor/tensor.h train/ahead.h; do
  if said=$("$compiler" -std=c++17 -I "$include" -fsyntax-only -include "espalier/$header" -x c++ /dev/null 2>&1); then
    echo "espalier/$header compiles as C++17, and should be refused" >&2
    exit 1
  fi
  mapfile -t errors < <(grep -E '(^|[^a-z])error: ' <<<"$said")
  # The second error is the one that stops the compiler.
  if [ "${#errors[@]}" -ne 2 ] || [[ ${errors[0]} != *"$sentence"* ]]; then
    printf 'espalier/%s as C++17: expected "%s", found:\n%s\n' "$header" "$sentence" "$said" | head -20 >&2
    exit 1
  fi
done
echo 'older standards get one sentence'
