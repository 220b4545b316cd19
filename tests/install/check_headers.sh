#!/bin/bash
# Every installed header compiles on its own, and none needs a third-party library. A map's vector code names Highway, but
# only where the library itself is compiled: without Highway's headers it is not there.
# usage: check_headers.sh INCLUDE_FOLDER COMPILER
set -euo pipefail
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
# A header is given as an include, not as the file to compile, so that #pragma once draws no warning.
printf '%s\0' "${headers[@]}" |
  xargs -0 -P "$(nproc)" -I '{}' "$compiler" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I . -include '{}' -x c++ /dev/null
echo "${#headers[@]} headers stand alone"
