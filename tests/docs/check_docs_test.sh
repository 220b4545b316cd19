#!/bin/bash
# Proves that check_docs.sh catches each thing it is there for, and accepts what is right.
# usage: check_docs_test.sh CHECK_DOCS ESPALIER_COMMAND
set -euo pipefail
check=$1
espalier=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

mkdir -p "$tree/examples" "$tree/bench"
printf 'int main() {\n  int x = 1;\n\n  return x;\n}\n' >"$tree/examples/one.cc"
printf 'command_demo() {\n  true\n}\n' >"$tree/dev"
touch "$tree/bench/speed.cc"

# expect WORDS DOCUMENT: WORDS are in what is said about a document with this text; nothing is said, if they are "".
expect() {
  local said
  printf '%b' "$2" >"$tree/page.md"
  said=$("$check" "$tree" "$espalier" page.md 2>&1) && [ -n "$1" ] && said='(nothing)'
  if [ "${said#*"$1"}" = "$said" ] && [ "$said" != "$1" ]; then
    printf 'expected: %s\n   found: %s\n' "$1" "$said" >&2
    exit 1
  fi
}

expect '' '```cpp examples/one.cc\nint main() {\n  int x = 1;\n\n  return x;\n}\n```\n'
expect '' 'Moved to the left:\n\n```cpp examples/one.cc\nint x = 1;\n\nreturn x;\n```\n'
expect 'page.md:1: this block is not in examples/one.cc' '```cpp examples/one.cc\nint x = 2;\n```\n'
expect 'page.md:1: this block is not in examples/one.cc' '```cpp examples/one.cc\nint x = 1;\n\n  return x;\n```\n'
expect 'page.md:3: this block names no file' 'Text.\n\n```cpp\nint x = 1;\n```\n'
expect 'page.md:1: there is no examples/two.cc' '```cpp examples/two.cc\nint x = 1;\n```\n'
expect 'page.md:1: this block has no end' '```cpp examples/one.cc\nint x = 1;\n'
expect '' '```text\nanything\n```\n'

expect '' '```sh\n./dev demo --epochs 2   # a comment\nESPALIER_THREADS=1 build/release/bench/speed\n```\n'
expect '' '```sh\nbuild/release/espalier train listops --epochs 2 --seed=3\nbuild/release/espalier ops\n```\n'
expect "page.md:1: ./dev has no command 'dmeo'" '```sh\n./dev dmeo\n```\n'
expect 'page.md:1: there is no bench/slow.cc' '```sh\nbuild/release/bench/slow\n```\n'
expect "page.md:1: espalier has no command 'tarin listops'" '```sh\nbuild/release/espalier tarin listops\n```\n'
expect 'espalier train listops has no option --epoch' '```sh\nbuild/release/espalier train listops --epoch 2\n```\n'
expect "nothing checks the command 'rm'" '```sh\nrm -rf build\n```\n'

expect '' '[one](examples/one.cc), [there](https://example.org), [part](page.md#one)\n'
expect 'the link to examples/two.cc leads nowhere' '[two](examples/two.cc)\n'
expect 'page.md:2: names a folder of one machine' 'It is in\n`/'home'/someone/build`.\n'
echo 'the documents are checked'
