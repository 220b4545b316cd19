#!/bin/bash
# Proves what `./dev` installs and builds on each kind of machine, with pretended ones: a folder of commands is all they have.
# usage: dev_test.sh DEV
# shellcheck disable=SC2016  # a pretended command expands its own arguments
set -euo pipefail
dev=$1
machine=$(mktemp -d)
trap 'rm -rf "$machine"' EXIT
unset ESPALIER_SKIP_SETUP

# pretend COMMAND SCRIPT: the machine has a command that does this.
pretend() {
  printf '#!/bin/bash\n%s\n' "$2" >"$machine/$1"
  chmod +x "$machine/$1"
}

# setup: runs ./dev setup there; sets `said` and `code`.
setup() {
  code=0
  said=$(PATH=$machine "$dev" setup 2>&1) || code=$?
}

expect() {
  [[ $said == *"$1"* ]] || { printf 'expected: %s\n   found: %s\n' "$1" "$said" >&2; exit 1; }
}

expect_code() {
  [ "$code" -eq "$1" ] || { printf 'expected exit code %s, found %s: %s\n' "$1" "$code" "$said" >&2; exit 1; }
}

for tool in bash dirname nproc env; do
  ln -s "$(command -v "$tool")" "$machine/$tool"
done

setup
expect_code 1
expect 'This is not Debian'
expect 'libdnnl-dev'
expect 'clang-tidy'

# Debian, everything but cmake installed, an ordinary user without sudo.
pretend dpkg-query '[ "${!#}" != cmake ] || exit 1; printf installed'
pretend apt-get "echo \"apt-get \$*\" >>'$machine/log'"
pretend id 'echo 1000'
setup
expect_code 1
expect 'needs root or sudo'
expect 'libdnnl-dev'
[ ! -e "$machine/log" ]

# With sudo, and then as root: only what is missing is installed, and it says so.
pretend sudo 'echo sudo; "$@"'
setup
expect_code 0
expect 'Installing Debian packages: cmake'
expect 'sudo'
rm "$machine/sudo" "$machine/log"
pretend id 'echo 0'
setup
expect_code 0
expect 'Installing Debian packages: cmake'
mapfile -t calls <"$machine/log"
[[ ${#calls[@]} -eq 2 && ${calls[0]} == *update && ${calls[1]} == *'install --no-install-recommends -y cmake' ]]

# With nothing missing, apt-get is not called.
rm "$machine/log"
pretend dpkg-query 'printf installed'
setup
expect_code 0
expect 'Everything needed is installed.'
[ ! -e "$machine/log" ]

# A demo installs and builds what the command needs; tests are added to the same folder later.
clone=$machine/clone
mkdir "$clone"
cp "$dev" "$clone/dev"
touch "$clone/CMakePresets.json"
for tool in grep mkdir touch cat chmod; do
  ln -s "$(command -v "$tool")" "$machine/$tool"
done
pretend dpkg-query 'exit 1'
pretend cmake "echo \"cmake \$*\" >>'$machine/cmake_log'
mkdir -p build/release
touch build/release/build.ninja
for option in \"\$@\"; do
  case \$option in
    -DESPALIER_BUILD_TESTS=*) echo \"ESPALIER_BUILD_TESTS:BOOL=\${option#*=}\" >build/release/CMakeCache.txt ;;
  esac
done
printf '#!/bin/bash\\necho espalier \"\$*\"\\n' >build/release/espalier
chmod +x build/release/espalier"
run_dev() {
  code=0
  rm -f "$machine/log" "$machine/cmake_log"
  said=$(PATH=$machine ESPALIER_JOBS=2 "$clone/dev" "$@" 2>&1) || code=$?
  built=$(cat "$machine/cmake_log")
}
run_dev demo --epochs 1
expect_code 0
expect 'libdnnl-dev'
[[ $said != *gtest* && $said != *clang* && $said != *valgrind* ]] || { echo "too many packages: $said" >&2; exit 1; }
expect 'espalier train listops --out build/demo --summary build/demo/summary.json --epochs 1'
expect 'espalier eval --weights build/demo/listops.safetensors'
[ "$built" = 'cmake --preset release -DESPALIER_BUILD_TESTS=OFF
cmake --build build/release --parallel 2 --target espalier_command' ]
run_dev demo  # again: nothing to configure
[ "$built" = 'cmake --build build/release --parallel 2 --target espalier_command' ]
run_dev build
expect 'libgtest-dev'
[ "$built" = 'cmake --preset release -DESPALIER_BUILD_TESTS=ON
cmake --build build/release --parallel 2' ]
run_dev build release exec_tests
[ "$built" = 'cmake --build build/release --parallel 2 --target exec_tests' ]

# Fuzzing builds one target of its preset and runs what was asked for; a name that is no target is refused before that.
mkdir -p "$clone/fuzz/targets" "$clone/tools"
touch "$clone/fuzz/targets/csv.cc" "$clone/fuzz/targets/json.cc"
printf '#!/bin/bash\necho run_fuzz "$@"\n' >"$clone/tools/run_fuzz"
chmod +x "$clone/tools/run_fuzz"
run_dev fuzz
expect_code 0
expect 'libclang-rt-dev'
expect 'run_fuzz 5 csv json'
[ "$built" = 'cmake --preset fuzz
cmake --build build/fuzz --parallel 2 --target fuzz' ]
run_dev fuzz json 60
expect 'run_fuzz 60 json'
pretend cmake 'exit 1'
for refused in 'fuzz jsn' 'fuzz json 0'; do
  code=0
  # shellcheck disable=SC2086
  said=$(PATH=$machine "$clone/dev" $refused 2>&1) || code=$?
  expect_code 1
done
expect "not '0'"
said=$(PATH=$machine "$clone/dev" fuzz jsn 2>&1) || true
expect "There is no fuzz target 'jsn'; there are: csv json"
said=$(PATH=$machine "$clone/dev" fuzz --list)
[ "$said" = 'csv
json' ]

echo './dev does what it should'
