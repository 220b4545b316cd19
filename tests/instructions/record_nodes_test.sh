#!/bin/bash
# Counts by callgrind how many instructions it takes to record a node: the difference between two runs, so that what
# starting a program costs does not count. usage: record_nodes_test.sh PROGRAM LIMIT
set -euo pipefail
program=$1 limit=$2
if ! command -v valgrind >/dev/null; then
  echo 'skipped: valgrind is not installed'
  exit 77
fi

instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

few=$(instructions 10000)
many=$(instructions 110000)
per_node=$(((many - few) / 100000))
echo "$per_node instructions a node, at most $limit"
[ "$few" -gt 0 ] && [ "$per_node" -gt 0 ] && [ "$per_node" -le "$limit" ]
