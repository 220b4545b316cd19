#!/bin/bash
# The installed docs are complete: README, license, every page, and the pictures they show.
# usage: check_docs.sh DOC_FOLDER SOURCE_FOLDER
set -euo pipefail
installed=$1
source=$2
cmp "$source/README.md" "$installed/README.md"
cmp "$source/LICENSE" "$installed/LICENSE"
diff -r "$source/docs" "$installed/docs"
diff -r "$source/examples" "$installed/examples"
echo 'the docs are installed'
