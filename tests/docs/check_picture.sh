#!/bin/bash
# Whether the picture in the README is what the command beside it makes.
# usage: check_picture.sh SOURCE_FOLDER ESPALIER_COMMAND
set -euo pipefail
cd "$1"
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$2" explain sentiment docs/three_trees.txt --animate -o "$made"
cmp "$made" docs/steps.svg || {
  echo 'docs/steps.svg is not what the command in README.md makes: run that command' >&2
  exit 1
}
