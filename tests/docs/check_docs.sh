#!/bin/bash
# Checks what the documents say against the sources.
#   1. A block of code (```cpp, ```cmake, ```python) names a file, as in ```cpp examples/own_op.cc, and is a run of lines of that
#      file, which the build compiles or a test runs. Only the indentation may differ, by the same for all lines.
#   2. A command in a ```sh block is one of ./dev's, a benchmark, or `espalier` with options that it has.
#   3. A relative link leads to a file.
#   4. A document names no folder of one machine.
# usage: check_docs.sh SOURCE_FOLDER ESPALIER_COMMAND DOCUMENT...    (documents relative to SOURCE_FOLDER)
set -euo pipefail
source=$1
espalier=$2
shift 2
wrong=0

complain() {
  echo "$1" >&2
  wrong=1
}

# blocks DOCUMENT LANGUAGE: the blocks of this language, one a line: line number, tab, rest of the fence, tab, and the
# lines with a \x1f after each.
blocks() {
  awk -v language="$2" '
    /^```/ && !inside { inside = 1; start = NR; fence = substr($0, 4); text = ""; next }
    /^```/ {
      inside = 0
      n = split(fence, words, " ")
      if (words[1] == language) printf "%d\t%s\t%s\n", start, (n > 1 ? words[2] : "-"), text
      next
    }
    inside { text = text $0 "\037" }
    END { if (inside) { printf "%s:%d: this block has no end\n", FILENAME, start > "/dev/stderr"; exit 1 } }
  ' "$1"
}

# is_part_of FILE: whether standard input is a run of lines of FILE, each indented by the same more (or none).
is_part_of() {
  awk -v part=<(cat) '
    BEGIN { while ((getline line < part) > 0) wanted[++count] = line }
    { have[NR] = $0 }
    END {
      for (i = 1; i + count - 1 <= NR; ++i) {
        at = index(have[i], wanted[1])
        if (at == 0 || substr(have[i], at) != wanted[1]) continue
        indent = substr(have[i], 1, at - 1)
        if (indent !~ /^ *$/) continue
        for (j = 1; j <= count; ++j)
          if (have[i + j - 1] != (wanted[j] == "" ? "" : indent wanted[j])) break
        if (j > count) exit 0
      }
      exit 1
    }
  ' "$1"
}

check_code() {
  local document=$1 language line file text
  for language in cpp cmake python; do
    while IFS=$'\t' read -r line file text; do
      if [ "$file" = - ]; then
        complain "$document:$line: this block names no file that it is taken from"
      elif [ ! -f "$source/$file" ]; then
        complain "$document:$line: there is no $file"
      elif ! tr '\037' '\n' <<<"${text%$'\x1f'}" | is_part_of "$source/$file"; then
        complain "$document:$line: this block is not in $file"
      fi
    done < <(blocks "$source/$document" "$language")
  done
}

# The options that `espalier WORDS` has, one a line. With words it does not know, help is that of what it knows.
options_of() {
  local help
  help=$("$espalier" "$@" --help)
  grep -q "^Usage: espalier${*:+ $*} " <<<"$help" && grep -oE -- "--[a-z-]+" <<<"$help"
}

# check_espalier PLACE WORD...: subcommands first, then options.
check_espalier() {
  local place=$1 words=() word known
  shift
  while [ $# -gt 0 ] && [[ $1 != -* ]]; do
    words+=("$1")
    shift
  done
  if ! known=$(options_of "${words[@]}" 2>&1); then
    complain "$place: espalier has no command '${words[*]}'"
    return
  fi
  for word in "$@"; do
    word=${word%%=*}
    if [[ $word == --* ]] && ! grep -qxe "$word" <<<"$known"; then
      complain "$place: espalier ${words[*]} has no option $word"
    fi
  done
}

check_command() {
  local place=$1 words
  read -ra words <<<"${2%%#*}"
  [ "${#words[@]}" -gt 0 ] || return 0
  while [[ ${words[0]} =~ ^[A-Z_]+=[^\ ]*$ ]]; do words=("${words[@]:1}"); done  # ESPALIER_THREADS=1 ...
  case ${words[0]} in
    ./dev)
      grep -q "^command_${words[1]:-help}() {" "$source/dev" || complain "$place: ./dev has no command '${words[1]}'" ;;
    build/release/espalier) check_espalier "$place" "${words[@]:1}" ;;
    build/release/bench/*)
      [ -f "$source/bench/${words[0]##*/}.cc" ] || complain "$place: there is no bench/${words[0]##*/}.cc" ;;
    cmake) ;;
    *) complain "$place: nothing checks the command '${words[0]}'" ;;
  esac
}

check_commands() {
  local document=$1 line text command
  while IFS=$'\t' read -r line _ text; do
    while IFS= read -r command; do check_command "$document:$line" "$command"; done \
      < <(tr '\037' '\n' <<<"${text%$'\x1f'}")
  done < <(blocks "$source/$document" sh)
}

# In a block of code, brackets before parentheses are no link.
check_links() {
  local document=$1 link
  while IFS= read -r link; do
    [ -e "$source/$(dirname "$document")/${link%%#*}" ] || complain "$document: the link to $link leads nowhere"
  done < <(sed '/^```/,/^```/d' "$source/$document" | grep -oE '\]\([^)]+\)' | sed -E 's/^\]\(//; s/\)$//' | grep -vE '^(https?:|#)')
}

check_places() {
  local found
  found=$(grep -nE '(^|[ `("])/(work|tmp|root|home|mnt|usr/local)/' "$source/$1") || return 0
  complain "$1:${found%%:*}: names a folder of one machine"
}

for document in "$@"; do
  blocks "$source/$document" none >/dev/null || wrong=1
  check_code "$document"
  check_commands "$document"
  check_links "$document"
  check_places "$document"
done
exit "$wrong"
