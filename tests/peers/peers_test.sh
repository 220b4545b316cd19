#!/bin/bash
# Tests both sides of the comparison with other libraries.
# usage: peers_test.sh ESPALIER_PEER FOLDER_OF_COMPARE
set -euo pipefail
peer=$1
scripts=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

# The first round of each variant starts from the same weights, so all give the same loss.
commands='cells train 0 4 2\nrecursion train 0 4 2\nlimit train 0 4 2\ncells infer 8 4 1\nlimit infer 8 4 1\n'
printf "$commands" | ESPALIER_DATA='' ESPALIER_THREADS=1 "$peer" 8 6 "$folder" >"$folder/answers"
awk '
  NR == 1 { if ($0 != "ready") exit 1; next }
  NF != 2 || $1 + 0 <= 0 { exit 1 }
  { loss[NR] = $2 + 0 }
  function differ(a, b) { return (a - b) ^ 2 > (1e-4 * a) ^ 2 }
  END { exit !(NR == 6 && loss[2] > 0 && !differ(loss[2], loss[3]) && !differ(loss[2], loss[4]) && !differ(loss[5], loss[6])) }
' "$folder/answers" || fail "espalier_peer gave other answers than expected: $(cat "$folder/answers")"
[ "$(head -1 "$folder/trees.txt")" = '18280 5 generated' ] || fail "trees.txt begins with: $(head -1 "$folder/trees.txt")"
[ "$(wc -l <"$folder/trees.txt")" -eq 8545 ] || fail "trees.txt has $(wc -l <"$folder/trees.txt") lines"
for name in words.table cell.leaf.W cell.leaf.b cell.U cell.b classify.W classify.b; do
  grep -aq "\"$name\"" "$folder/weights.safetensors" || fail "weights.safetensors has no $name"
done

command -v python3 >/dev/null || exit 0
mkdir "$folder/without"
echo 'raise ImportError("hidden by a test")' >"$folder/without/torch.py"
said=$(PYTHONPATH=$folder/without python3 "$scripts/compare.py") || fail 'compare.py fails where PyTorch is missing'
[[ $said == 'PyTorch is not installed: '* ]] || fail "compare.py says: $said"
if PYTHONPATH=$folder/without python3 "$scripts/compare.py" --check >/dev/null; then
  fail 'compare.py --check finds a PyTorch that is not there'
fi
