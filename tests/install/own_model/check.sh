#!/bin/bash
# A user's model trains, stops at a signal, goes on to the same bits, and predicts.
# usage: check.sh PROGRAM
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Trees like "( not ( very good ) )": each "not" turns the meaning of what follows around.
trees() {
  awk -v seed="$1" -v count="$2" -v labelled="$3" 'BEGIN {
    srand(seed)
    for (i = 0; i < count; ++i) {
      label = int(rand() * 2); text = label ? "good" : "bad"
      for (depth = int(rand() * 4); depth > 0; --depth)
        if (rand() < 0.5) { text = "( not " text " )"; label = 1 - label } else text = "( very " text " )"
      print (labelled ? label " " : "") text
    }
  }'
}
trees 1 300 1 >"$work/train"
trees 2 60 1 >"$work/held_out"
trees 3 20 1 | tee "$work/right" | cut -d' ' -f2- >"$work/further"

export ESPALIER_THREADS=2
# run FOLDER: what it predicts goes to FOLDER.out.
run() { "$program" "$work/$1" "$work/train" "$work/held_out" <"$work/further" >"$work/$1.out" 2>"$work/$1.said"; }

run whole
grep -q '^finished after 100 of 100 epochs' "$work/whole.said"

"$program" "$work/stopped" "$work/train" "$work/held_out" <"$work/further" >"$work/none" 2>"$work/said" &
process=$!
until [ -e "$work/stopped/checkpoint.safetensors" ] || ! kill -0 "$process" 2>"$work/ignored"; do :; done
kill -INT "$process"
code=0
wait "$process" || code=$?
[ "$code" -eq 3 ] || { echo "interrupted, it ended with $code: $(cat "$work/said")" >&2; exit 1; }
[ ! -s "$work/none" ] || { echo 'it predicted although it was interrupted' >&2; exit 1; }
grep -q '^interrupted after .*; to resume, run again with the folder' "$work/said"
run stopped

cmp "$work/whole/best.safetensors" "$work/stopped/best.safetensors"
cmp "$work/whole.out" "$work/stopped.out"
diff <(cut -d' ' -f1 "$work/right") "$work/whole.out"
lines=$(wc -l <"$(dirname "${BASH_SOURCE[0]}")/own_model.cc")
[ "$lines" -le 60 ] || { echo "own_model.cc has $lines lines, and 60 are promised" >&2; exit 1; }
echo "it stopped, went on to the same bits and predicted, in $lines lines"
