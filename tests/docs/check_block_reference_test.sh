#!/bin/bash
# Proves that tools/block_reference reads entries as it says, and complains of blocks that have none or only a part.
# usage: check_block_reference_test.sh BLOCK_REFERENCE
set -euo pipefail
reference=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# expect MODE WORDS HEADER: WORDS are in what is printed for a header with this text.
expect() {
  local said
  printf '%b' "$3" >"$tree/header.h"
  said=$("$reference" "$1" "$tree/header.h" 2>&1) || said+=' (refused)'
  if [[ $said != *"$2"* ]]; then
    printf 'expected: %s\n   found: %s\n' "$2" "$said" >&2
    exit 1
  fi
}

whole='/// twice(x) : two\n/// of them.\n/// Type: a -> (a, a)\n/// Meaning: as\n/// said.\n'
whole+='/// Example:\n///   auto y = 1;\n///   use(y);\n/// Errors: none.\nBlock twice(int x);\n'
expect page '`twice(x)`: two of them.' "$whole"
expect page '- Meaning: as said.' "$whole"
expect page $'```cpp\nauto y = 1;\nuse(y);\n```' "$whole"
expect examples '{"twice(x)", [] { Example1().run(); }}' "$whole"
expect check '' "$whole"
[ -z "$("$reference" check "$tree/header.h" 2>&1)" ]
expect check "three: no comment in a header begins with '/// three(...) : '" "$whole\nBlock three();\n"
expect check 'twice(x) has no Example' "${whole/Example:/Instance:}"
expect check '(refused)' "${whole/Type:/Kind:}"
echo 'the reference is checked'
