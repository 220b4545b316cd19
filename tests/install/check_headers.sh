#!/bin/bash
# Every installed header compiles on its own, and none needs a third-party library. A map's vector code names Highway, but
# only where the library itself is compiled: without Highway's headers it is not there.
# usage: check_headers.sh INCLUDE_FOLDER COMPILER
set -euo pipefail
export LC_ALL=C
include=$1
compiler=$2

third_party='#[[:space:]]*include[[:space:]]*[<"](fmt/|hwy/|dnnl|oneapi/|nlohmann/|CLI/|zlib|omp\.h)|\<(fmt|dnnl|nlohmann|CLI)::'
if grep -rnE "$third_party" "$include"; then
  echo "the installed headers above name a third-party library" >&2
  exit 1
fi

cd "$include"
mapfile -t headers < <(find espalier -name '*.h' | sort)
[ "${#headers[@]}" -gt 0 ] || { echo "no header is installed under $include" >&2; exit 1; }

# after NAME: the headers that include NAME, directly or not, whatever else is defined.
after() {
  awk -v name="$1" '
    FNR == 1 { conditional = 0 }
    /^#if/ { conditional = 1 }
    /^#include "/ && !conditional { split($0, parts, "\""); includes[FILENAME] = includes[FILENAME] " " parts[2] }
    function reaches(file,    list, count, i) {
      if (file in known) return known[file]
      known[file] = 0
      count = split(includes[file], list, " ")
      for (i = 1; i <= count; ++i)
        if (list[i] == name || reaches(list[i])) known[file] = 1
      return known[file]
    }
    END { for (i = 1; i < ARGC; ++i) if (reaches(ARGV[i])) print ARGV[i] }' "${headers[@]}" | sort
}

# A header is given as an include, not as the file to compile, so that #pragma once draws no warning.
flags=(-std=c++20 -Wall -Wextra -Werror -I .)
check() {
  xargs -r -d '\n' -P "${ESPALIER_JOBS:-$(nproc)}" -I '{}' \
    "$compiler" "${flags[@]}" -fsyntax-only "$@" -include '{}' -x c++ /dev/null
}

# Headers include at their top, and all that is included is checked too. So nothing changes where one of the headers that
# they include comes first, and then the largest of these are compiled once for all.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%s\n' "${headers[@]}" >"$work/left"
for first in espalier/ops/op.h espalier/nn/model.h espalier/graph/graph.h espalier/tensor/tensor.h; do
  after "$first" | comm -12 - "$work/left" >"$work/these"
  comm -23 "$work/left" "$work/these" >"$work/others"
  mv "$work/others" "$work/left"
  mkdir -p "$work/$(dirname "$first")"
  printf '#include "%s"\n' "$first" >"$work/$first"
  "$compiler" "${flags[@]}" -x c++-header "$work/$first" -o "$work/$first.gch"
  check -include "$work/$first" <"$work/these"
done
check <"$work/left"
echo "${#headers[@]} headers stand alone"
