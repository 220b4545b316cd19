#!/bin/bash
# Proves what tools/report_tests makes of the output of ctest, and which tests tools/run_gtest chooses.
# usage: report_tests_test.sh TOOLS_FOLDER
set -euo pipefail
tools=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# report TEXT: sets `said` and `code`.
report() {
  code=0
  said=$("$tools/report_tests" <<<"$1") || code=$?
}

# Two programs whose lines are mixed, a failure in the first, and a check that is no program of tests.
report '    Start 1: a_tests
1: Test command: /build/a_tests
1: Working Directory: /build
1: Environment variables: 
1:  ESPALIER_SIMD=avx2
1: Test timeout computed to be: 1200
2: Test timeout computed to be: 1200
1: [ RUN      ] Sum.IsRight
2: [ RUN      ] Max.IsRight
1: [       OK ] Sum.IsRight (0 ms)
1: [ RUN      ] Sum.IsWrong
2: [       OK ] Max.IsRight (0 ms)
1: sum_test.cc:3: Failure
1:
1: Expected 1, found 2
1: [  FAILED  ] Sum.IsWrong (1 ms)
1: [  FAILED  ] 1 test, listed below:
1: [  FAILED  ] Sum.IsWrong
2: [ RUN      ] Max.NeedsMore
2: [  SKIPPED ] Max.NeedsMore (0 ms)
1/3 Test #1: a_tests ..........***Failed    1.52 sec
2/3 Test #2: b_tests ..........   Passed    0.20 sec
3: Test timeout computed to be: 120
3: all is well
3/3 Test #3: lint_layers ......   Passed    0.10 sec'
[ "$code" -eq 1 ] || fail "exit code $code" "$said"
expected='[ RUN      ] Sum.IsWrong
sum_test.cc:3: Failure

Expected 1, found 2
[  FAILED  ] Sum.IsWrong (1 ms)
a_tests                                                           1.5 s  1 passed, 1 FAILED
b_tests                                                           0.2 s  1 passed, 1 skipped
lint_layers                                                       0.1 s  1 passed

failed:
  a_tests
1 skipped
3 passed, 1 failed'
[ "$said" = "$expected" ] || fail 'expected:' "$expected" 'found:' "$said"

# A program that crashes shows its last test; one without a matching test is not mentioned; a failed check shows all.
report '1: Test timeout computed to be: 1200
1: [ RUN      ] Sum.IsRight
1: [       OK ] Sum.IsRight (0 ms)
1: [ RUN      ] Sum.Crashes
1: Segmentation fault
1/3 Test #1: a_tests ..........***Exception: SegFault  0.02 sec
2/3 Test #2: b_tests ..........***Skipped   0.01 sec
3: Test timeout computed to be: 120
3: nothing is well
3/3 Test #3: lint_layers ......***Failed    0.10 sec'
expected='[ RUN      ] Sum.Crashes
Segmentation fault
a_tests                                                           0.0 s  1 passed, 1 FAILED
nothing is well
lint_layers                                                       0.1 s  0 passed, 1 FAILED

failed:
  a_tests
  lint_layers
1 passed, 2 failed'
[ "$said" = "$expected" ] || fail 'expected:' "$expected" 'found:' "$said"

# That nothing ran is no success.
report 'No tests were found!!!'
[[ $code -eq 1 && $said == *'no test ran'* ]] || fail "exit code $code" "$said"

# A pretended program of tests.
cat >"$work/program" <<'END'
#!/bin/bash
if [ "${1:-}" = --gtest_list_tests ]; then
  printf '%s\n' 'Running main() from a file' 'Sum.' '  IsRight' 'All/Max.' '  Of/0  # GetParam() = 1' '  Of/1  # GetParam() = 2'
else
  echo "ran ${1:-all}"
fi
END
chmod +x "$work/program"
chosen() {
  code=0
  said=$(ESPALIER_TESTS=$1 "$tools/run_gtest" "$work/program") || code=$?
}
chosen ''
[ "$said" = 'ran all' ] || fail "$said"
chosen 'Max'
[ "$said" = 'ran --gtest_filter=All/Max.Of/0:All/Max.Of/1' ] || fail "$said"
chosen '^Sum\.Is'
[ "$said" = 'ran --gtest_filter=Sum.IsRight' ] || fail "$said"
chosen 'Min'
[[ $code -eq 77 && -z $said ]] || fail "exit code $code" "$said"

echo 'reports of tests say what they should'
