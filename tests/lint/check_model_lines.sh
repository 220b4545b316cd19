#!/bin/bash
# Checks that a model is no longer than it may be. The rule: count the lines between `// model begins` and
# `// model ends`, without blank lines and lines that are nothing but a comment. Lines are as clang-format leaves them.
# usage: check_model_lines.sh FILE LIMIT [FILE LIMIT]...
set -euo pipefail
wrong=0
while [ $# -gt 0 ]; do
  if ! lines=$(awk '
    /^\/\/ model begins$/ { begins++; inside = 1; next }
    /^\/\/ model ends$/ { ends++; inside = 0 }
    inside && !/^ *$/ && !/^ *\/\// { count++ }
    END { print count + 0; exit begins != 1 || ends != 1 }
  ' "$1"); then
    echo "$1: expected one '// model begins' and one '// model ends'" >&2
    wrong=1
  elif [ "$lines" -gt "$2" ]; then
    echo "$1: the model has $lines lines; it may have $2" >&2
    wrong=1
  else
    echo "$1: $lines of $2 lines"
  fi
  shift 2
done
exit "$wrong"
