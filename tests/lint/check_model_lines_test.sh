#!/bin/bash
# Proves that check_model_lines.sh counts as it says, and refuses what is too long or has no marks.
# usage: check_model_lines_test.sh CHECK_MODEL_LINES
set -euo pipefail
check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# expect WORDS LIMIT TEXT: WORDS are in what is said about a file with this text.
expect() {
  local said
  printf '%b' "$3" >"$tree/file.cc"
  said=$("$check" "$tree/file.cc" "$2" 2>&1) && said+=' (accepted)'
  if [[ $said != *"$1"* ]]; then
    printf 'expected: %s\n   found: %s\n' "$1" "$said" >&2
    exit 1
  fi
}

model='int before;\n// model begins\nint a;\n\n  // a comment\n  int b;  // another\n// model ends\nint after;\n'
expect '2 of 2 lines (accepted)' 2 "$model"
expect 'the model has 2 lines; it may have 1' 1 "$model"
expect "expected one '// model begins'" 9 'int a;\n'
expect "expected one '// model begins'" 9 '// model begins\nint a;\n'
expect "expected one '// model begins'" 9 "$model$model"
echo 'models are counted'
